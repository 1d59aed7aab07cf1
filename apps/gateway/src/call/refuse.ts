import type { Logger } from "pino";
import { GatewayError, gatewayFailed, type RpcId, sendError } from "../gateway-error.ts";
import type { PaceRefusals } from "../limits/pace-refusals.ts";
import type { Metrics } from "../platform/metrics.ts";
import { discardBody } from "../policy/body.ts";
import { corsHeaders } from "../policy/browsers.ts";
import { requestIdHeader } from "../record/request-id.ts";
import type { Call } from "./states.ts";

export type RefusalParts = { paceRefusals: PaceRefusals; metrics: Metrics; log: Logger };

/** The response to an error. One that is no GatewayError is our own bug. */
export function refusalFor({ log }: RefusalParts, error: unknown, requestId: string): GatewayError {
  if (error instanceof GatewayError) return error;
  log.error({ err: error, requestId }, "a request failed in the gateway");
  return gatewayFailed();
}

/**
 * Answers a request with its refusal. `rpcId`: of its JSON-RPC message, several for a batch; undefined if unknown.
 * Resolves to the size of the body in bytes.
 */
export async function refuse(
  parts: RefusalParts,
  { id, request, response, body, address }: Pick<Call, "id" | "request" | "response" | "body" | "address">,
  { refusal, rpcId }: { refusal: GatewayError; rpcId?: RpcId | readonly RpcId[] | undefined },
): Promise<number> {
  await parts.paceRefusals(address, refusal.status);
  parts.metrics.requestRefused(refusal.code);
  const headers = [requestIdHeader, id, ...corsHeaders(request.headers.origin)];
  // A POST counts as JSON-RPC even when it was refused before its body was read.
  const isUnread = rpcId === undefined && request.method === "POST";
  const bytes = sendError(response, refusal, { rpcId: isUnread ? null : rpcId, headers });
  if (!Buffer.isBuffer(body) && !body.complete) discardBody(body);
  return bytes;
}
