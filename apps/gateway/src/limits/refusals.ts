import type { Rate } from "@towpath/limits";
import { GatewayError } from "../gateway-error.ts";

/** Whose limit is reached. */
export type Limited = "caller" | "server" | "organization";

const codes = {
  caller: "caller_rate_limited",
  server: "server_rate_limited",
  organization: "organization_rate_limited",
} as const;

const whose: Readonly<Record<Limited, string>> = {
  caller: "for one caller of this server",
  server: "for all callers of this server together",
  organization: "for all servers of this server's organization together",
};

const remedies: Readonly<Record<Limited, string>> = {
  caller: "An admin of the server's team sees the limit on its Limits page.",
  server: "An admin of the server's team sees the limit on its Limits page.",
  organization: "The operator of this Towpath instance sets it.",
};

/** A wait that is over before a client could react is a second too: Retry-After has whole seconds (RFC 9110 §10.2.3). */
const secondsOf = (waitMs: number) => Math.max(1, Math.ceil(waitMs / 1000));

/** A bucket has too few calls left. All texts about limits begin alike, so that one search finds them in the log. */
export function rateLimited({ limited, rate, waitMs }: { limited: Limited; rate: Rate; waitMs: number }): GatewayError {
  const seconds = secondsOf(waitMs);
  return new GatewayError(
    codes[limited],
    `Towpath's limit ${whose[limited]} is reached: ${rate.perMinute} calls a minute, at most ${rate.burst} at once. ` +
      `Nothing was sent to the server. Try again in ${seconds} s, and call less often. ${remedies[limited]}`,
    { "retry-after": String(seconds) },
  );
}

/** When one of them ends isn't known, so neither is how long to wait. */
const openRetrySeconds = "5";

/** `most`: what this process lets in, of the gateway's limit. */
export function tooManyOpen(limited: "caller" | "organization", most: number): GatewayError {
  return new GatewayError(
    "too_many_open_calls",
    `Towpath's limit ${whose[limited]} is reached: ${most} requests are open at a time, streams included. Close ` +
      `connections that are not needed, or try again when some have finished. The operator of this Towpath instance sets it.`,
    { "retry-after": openRetrySeconds },
  );
}
