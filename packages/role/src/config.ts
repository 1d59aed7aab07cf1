import { z } from "zod";

const setting = z.enum(["stop", "drain"], "must be stop or drain");

/**
 * `drain`: other processes serve when this one gets SIGTERM, so it ends what it has begun, like one that was replaced.
 *
 * @throws Error that names the setting
 */
export function onSigterm(): z.output<typeof setting> {
  const parsed = setting.safeParse(process.env.TOWPATH_SIGTERM || "stop");
  if (!parsed.success) throw new Error(`TOWPATH_SIGTERM: ${parsed.error.issues[0]?.message}`);
  return parsed.data;
}
