import { randomUUID } from "node:crypto";
import { z } from "zod";
import type { Admitted } from "../call/states.ts";
import { GatewayError } from "../gateway-error.ts";

/** Refuses a caller who is no person at a server where each person has values of their own (CAP-1). */
export function needsPerson({ call }: Admitted): GatewayError {
  const { authMode, perCaller } = call.route;
  const remedy =
    authMode === "towpath-cloud"
      ? "Sign in as a person, or use a personal API key; keys of the organization and workloads have no values."
      : "It lets everybody in without a sign-in, so callers can't be distinguished: its owner can require a sign-in under Settings, Access.";
  return new GatewayError(
    "person_needed",
    `This server works with values that each person brings (${perCaller.join(", ")}). ${remedy}`,
  );
}

/**
 * Refuses a person who lacks values, with the address where they are entered: by URL-mode elicitation (MCP 2025-11-25)
 * where the client declared that it can, as the text of a failed tool for `tools/call`, which every client shows, and as an
 * error for anything else.
 *
 * @param missing names of the variables, comma-separated
 * @param dashboard its origin
 */
export function needsValues(admitted: Admitted, missing: string, dashboard: string): GatewayError {
  const { call, peek } = admitted;
  const url = `${dashboard}/my-values/${call.route.projectId}`;
  const message = `This server needs your own ${missing}. Enter it once at ${url}, then repeat the call. Nobody else sees it.`;
  const refusal = new GatewayError("values_needed", message);
  if (canOpenAddresses(admitted)) {
    const elicitation = { mode: "url", elicitationId: randomUUID(), url, message: `Enter your own ${missing}.` };
    refusal.rpcAnswer = { error: { code: urlElicitationRequired, message, data: { elicitations: [elicitation] } } };
  } else if (peek.method === "tools/call") {
    const result = { content: [{ type: "text", text: message }], isError: true };
    refusal.rpcAnswer = { result: peek.era === "modern" ? { ...result, resultType: "complete" } : result };
  }
  return refusal;
}

/** MCP 2025-11-25, Elicitation. */
const urlElicitationRequired = -32042;
const openingSchema = z.object({ capabilities: z.object({ elicitation: z.object({ url: z.object({}) }) }) });

/** Known of sessions that were opened while no instance of the caller ran, as all are of those without values. */
function canOpenAddresses({ session }: Admitted): boolean {
  const opening = session?.session.opening ?? null;
  return opening !== null && openingSchema.safeParse(JSON.parse(opening)).success;
}
