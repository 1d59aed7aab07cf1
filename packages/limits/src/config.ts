import { z } from "zod";
import type { CallLimits, Rate } from "./rate.ts";

const maxRate = 10_000_000;
const perMinute = (normal: number) =>
  z.coerce.number().int().min(0, "must be 0 (no limit) or more").max(maxRate).default(normal);
const burst = (normal: number) => z.coerce.number().int().min(1, "must be 1 or more").max(maxRate).default(normal);

/** Settings of every process that enforces the limits of calls, or shows them. 0 calls a minute: no limit. */
export const callLimitSettings = {
  TOWPATH_LIMIT_CALLER_PER_MINUTE: perMinute(6000),
  TOWPATH_LIMIT_CALLER_BURST: burst(1000),
  TOWPATH_LIMIT_SERVER_PER_MINUTE: perMinute(30_000),
  TOWPATH_LIMIT_SERVER_BURST: burst(3000),
  TOWPATH_LIMIT_ORGANIZATION_PER_MINUTE: perMinute(60_000),
  TOWPATH_LIMIT_ORGANIZATION_BURST: burst(6000),
};

type Values = { readonly [name in keyof typeof callLimitSettings]: number };

export function callLimitsFrom(values: Values): CallLimits {
  return {
    caller: rateOf(values.TOWPATH_LIMIT_CALLER_PER_MINUTE, values.TOWPATH_LIMIT_CALLER_BURST),
    server: rateOf(values.TOWPATH_LIMIT_SERVER_PER_MINUTE, values.TOWPATH_LIMIT_SERVER_BURST),
    organization: rateOf(values.TOWPATH_LIMIT_ORGANIZATION_PER_MINUTE, values.TOWPATH_LIMIT_ORGANIZATION_BURST),
  };
}

function rateOf(calls: number, atOnce: number): Rate | null {
  return calls === 0 ? null : { perMinute: calls, burst: atOnce };
}
