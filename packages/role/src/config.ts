import { z } from "zod";

const settings = z.object({
  /** `drain`: others serve when this process gets SIGTERM, so it ends what it has begun, like one that was replaced. */
  TOWPATH_SIGTERM: z.enum(["stop", "drain"], "must be stop or drain").default("stop"),
});

/** @throws Error that names the setting */
export function onSigterm(): "stop" | "drain" {
  const { TOWPATH_SIGTERM } = process.env;
  const parsed = settings.safeParse({ TOWPATH_SIGTERM: TOWPATH_SIGTERM || undefined });
  if (!parsed.success) throw new Error(`TOWPATH_SIGTERM: ${parsed.error.issues[0]?.message}`);
  return parsed.data.TOWPATH_SIGTERM;
}
