import type { Identified, Read } from "../call/states.ts";
import { GatewayError } from "../gateway-error.ts";
import type { Policy } from "../policy/policy.ts";

/** As many as the log looks at: each message of a batch is a call with a row of its own. */
const maxBatch = 100;

/** So many requests may be under way for a caller, and for an organization (GW-8). */
export const openCallsPolicy: Policy<unknown, Identified> = (_parts, { call, limits }) => {
  limits.enter(call.response);
  return "passed";
};

/**
 * So many calls may come in a minute (GW-8). What is sent to other paths of a server is its own: a list there need not be
 * a batch.
 */
export const ratePolicy: Policy<unknown, Read> = (_parts, { received, peek, limits }) => {
  if (received.isMcp && peek.count > maxBatch) {
    const message = `The batch has ${peek.count} messages. Send at most ${maxBatch} per batch.`;
    throw new GatewayError("body_too_large", message);
  }
  limits.take(Math.min(peek.count, maxBatch));
  return "passed";
};
