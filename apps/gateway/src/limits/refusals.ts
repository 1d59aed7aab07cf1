import type { Rate } from "@towpath/limits";
import { GatewayError } from "../gateway-error.ts";

/** Whose limit is reached. */
export type Limited = "caller" | "server" | "organization";

const codes = {
  caller: "caller_rate_limited",
  server: "server_rate_limited",
  organization: "organization_rate_limited",
} as const;

/** For whom it is, and where people find it. */
const scopes: Readonly<Record<Limited, string>> = {
  caller: "for each caller, set under Limits",
  server: "for all callers together, set under Limits",
  organization: "for all servers of this organization together, set by the operator",
};

/** A wait that is over before a client could react is a second too: Retry-After has whole seconds (RFC 9110 §10.2.3). */
const secondsOf = (waitMs: number) => Math.max(1, Math.ceil(waitMs / 1000));

/** A bucket has too few calls left. All texts about limits say "limit reached", so that one search finds them in the log. */
export function rateLimited({ limited, rate, waitMs }: { limited: Limited; rate: Rate; waitMs: number }): GatewayError {
  const seconds = secondsOf(waitMs);
  return new GatewayError(
    codes[limited],
    `Rate limit reached (${rate.perMinute} a minute, ${rate.burst} at once ${scopes[limited]}). ` +
      `Try again in ${seconds} s.`,
    { "retry-after": String(seconds) },
  );
}

const openScopes = { caller: "for each caller", organization: "for all servers of this organization together" };

/** When one of them ends isn't known, so neither is how long to wait. */
const openRetrySeconds = "5";

/** `most`: what this process lets in, of the gateway's limit. */
export function tooManyOpen(limited: "caller" | "organization", most: number): GatewayError {
  return new GatewayError(
    "too_many_open_calls",
    `Open-request limit reached (${most} at a time ${openScopes[limited]}, streams included, set by the operator). ` +
      "Close connections you don't need, or try again when some have finished.",
    { "retry-after": openRetrySeconds },
  );
}
