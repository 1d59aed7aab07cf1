import { deriveKey } from "@towpath/crypto";
import { z } from "zod";
import type { RunnerAddress } from "./endpoint.ts";

/** Settings of the runner and of every process that calls it. */
export const runnerSettings = {
  /** host:port where the runner listens and the others reach it. Default: a socket in TOWPATH_RUN_DIR. */
  TOWPATH_RUNNER_ADDRESS: z
    .string()
    .regex(/^(?:\[[0-9a-f:.]+\]|[^\s:/@]+):\d{1,5}$/i, "must be host:port, such as runner.internal:9000 or [::1]:9000")
    .refine((text) => portOf(text) <= 65_535, "must have a port of at most 65535")
    .optional(),
};

/** Over the network, the secret is derived from TOWPATH_SECRET, which all processes have. */
export function runnerAddressFrom(values: {
  readonly TOWPATH_RUNNER_ADDRESS?: string | undefined;
  readonly TOWPATH_RUN_DIR: string;
  readonly TOWPATH_SECRET: string;
  /** The runner accepts calls of processes that have not been restarted with the new secret yet. */
  readonly TOWPATH_PREVIOUS_SECRETS?: readonly string[];
}): RunnerAddress {
  const text = values.TOWPATH_RUNNER_ADDRESS;
  if (text === undefined) return { kind: "unix", path: `${values.TOWPATH_RUN_DIR}/runner.sock` };
  const host = text.slice(0, text.lastIndexOf(":")).replace(/^\[|\]$/g, "");
  const secretOf = (secret: string) => Buffer.from(deriveKey(secret, "runner-api").bytes).toString("base64url");
  const previous = (values.TOWPATH_PREVIOUS_SECRETS ?? []).map(secretOf);
  return { kind: "tcp", host, port: portOf(text), secrets: [secretOf(values.TOWPATH_SECRET), ...previous] };
}

const portOf = (text: string) => Number(text.slice(text.lastIndexOf(":") + 1));
