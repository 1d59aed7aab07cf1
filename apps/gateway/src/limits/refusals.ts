import type { Rate } from "@towpath/limits";
import { GatewayError } from "../gateway-error.ts";

/** Whose limit is reached. */
export type Limited = "caller" | "server" | "organization";

const codes = {
  caller: "caller_rate_limited",
  server: "server_rate_limited",
  organization: "organization_rate_limited",
} as const;

const scopes: Readonly<Record<Limited, string>> = {
  caller: "for each caller",
  server: "for all callers together",
  organization: "for all servers of this organization together",
};

const inFull = (calls: number) => calls.toLocaleString("en");

/** A wait shorter than a client's reaction counts as a second: Retry-After has whole seconds (RFC 9110 §10.2.3). */
const secondsOf = (waitMs: number) => Math.max(1, Math.ceil(waitMs / 1000));

export type Reached = {
  readonly limited: Limited;
  readonly rate: Rate;
  /** Whether the server's own limit is lower than the instance's. */
  readonly isOwn: boolean;
  readonly waitMs: number;
};

/** A bucket has too few calls left. All texts about limits say "limit reached", so that one search finds them in the log. */
export function rateLimited({ limited, rate, isOwn, waitMs }: Reached): GatewayError {
  const seconds = secondsOf(waitMs);
  const where = isOwn ? "set under Limits" : "set by the operator";
  return new GatewayError(
    codes[limited],
    `Rate limit reached (${inFull(rate.perMinute)} a minute, ${inFull(rate.burst)} at once ${scopes[limited]}, ${where}). ` +
      `Try again in ${seconds} s.`,
    { "retry-after": String(seconds) },
  );
}

const openScopes = { caller: "for each caller", organization: "for all servers of this organization together" };

/** It is unknown when one of them ends. */
const openRetrySeconds = "5";

/** `most`: this process's share of the gateway's limit. */
export function tooManyOpen(limited: "caller" | "organization", most: number): GatewayError {
  return new GatewayError(
    "too_many_open_calls",
    `Open-request limit reached (${most} at a time ${openScopes[limited]}, streams included, set by the operator). ` +
      "Close connections you don't need, or try again when some have finished.",
    { "retry-after": openRetrySeconds },
  );
}
