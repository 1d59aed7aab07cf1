import { deriveKey } from "@towpath/crypto";
import { z } from "zod";
import type { RunnerAddress } from "./endpoint.ts";

const hostAndPort = z
  .string()
  .regex(/^(?:\[[0-9a-f:.]+\]|[^\s:/@]+):\d{1,5}$/i, "must be host:port, such as runner.internal:9000 or [::1]:9000")
  .transform((text) => {
    const split = text.lastIndexOf(":");
    return { host: text.slice(0, split).replace(/^\[|\]$/g, ""), port: Number(text.slice(split + 1)) };
  })
  .refine(({ port }) => port <= 65_535, "must have a port of at most 65535")
  .optional();

/** Settings of the runner and of every process that calls it. */
export const runnerSettings = {
  /** Where the others reach the runner. Default: a socket in TOWPATH_RUN_DIR. */
  TOWPATH_RUNNER_ADDRESS: hostAndPort,
};

/** Settings of the runner itself. */
export const runnerListenSettings = {
  ...runnerSettings,
  /** Where it listens, if that is not TOWPATH_RUNNER_ADDRESS: the name of a service can't be bound. */
  TOWPATH_RUNNER_LISTEN: hostAndPort,
};

type Values<Settings extends z.ZodRawShape> = z.infer<z.ZodObject<Settings>> & {
  readonly TOWPATH_RUN_DIR: string;
  readonly TOWPATH_SECRET: string;
  /** The runner accepts calls of processes that have not been restarted with the new secret yet. */
  readonly TOWPATH_PREVIOUS_SECRETS?: readonly string[];
};

/** Where to call the runner. Over the network, the secret is derived from TOWPATH_SECRET, which all processes have. */
export function runnerAddressFrom(values: Values<typeof runnerSettings>): RunnerAddress {
  const place = values.TOWPATH_RUNNER_ADDRESS;
  if (place === undefined) return { kind: "unix", path: `${values.TOWPATH_RUN_DIR}/runner.sock` };
  const secretOf = (secret: string) => Buffer.from(deriveKey(secret, "runner-api").bytes).toString("base64url");
  const previous = (values.TOWPATH_PREVIOUS_SECRETS ?? []).map(secretOf);
  return { kind: "tcp", ...place, secrets: [secretOf(values.TOWPATH_SECRET), ...previous] };
}

/** Where the runner itself listens. */
export const runnerListenAddressFrom = (values: Values<typeof runnerListenSettings>): RunnerAddress =>
  runnerAddressFrom({
    ...values,
    TOWPATH_RUNNER_ADDRESS: values.TOWPATH_RUNNER_LISTEN ?? values.TOWPATH_RUNNER_ADDRESS,
  });
