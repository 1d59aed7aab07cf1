import type { Identified, Read } from "../call/states.ts";
import { GatewayError } from "../gateway-error.ts";
import type { Policy } from "../policy/policy.ts";

/** As many as the log inspects: each message of a batch is a call with its own row. */
const maxBatch = 100;

/** Limits the open requests of a caller and of an organization (GW-8). */
export const openCallsPolicy: Policy<unknown, Identified> = (_parts, { call, limits }) => {
  limits.enter(call.response);
  return "passed";
};

/**
 * Limits the calls per minute (GW-8). Requests to other paths are the server's own protocol: a list there need not be a
 * batch.
 */
export const ratePolicy: Policy<unknown, Read> = (_parts, { received, peek, limits }) => {
  if (received.isMcp && peek.count > maxBatch) {
    const message = `The batch has ${peek.count} messages. Send at most ${maxBatch} per batch.`;
    throw new GatewayError("body_too_large", message);
  }
  limits.take(Math.min(peek.count, maxBatch));
  return "passed";
};
