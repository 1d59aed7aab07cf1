import { randomUUID } from "node:crypto";
import { parseExactly } from "@towpath/mcp/peek";
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
 * Refuses a person who lacks values, with the address where they are entered: by URL-mode elicitation where the client
 * declared that it can, as the text of a failed tool for `tools/call`, which every client shows, and as an error for
 * anything else. A client of 2026-07-28 repeats the call once its user has opened the address, perhaps before they have
 * entered anything: then the refusal may be waited for.
 *
 * @param missing names of the variables, comma-separated
 * @param dashboard its origin
 */
export function needsValues(admitted: Admitted, missing: string, dashboard: string): GatewayError {
  const { call, peek } = admitted;
  const url = `${dashboard}/my-values/${call.route.projectId}`;
  const message = `This server needs your own ${missing}. Enter it once at ${url}, then repeat the call. Nobody else sees it.`;
  const rounds = roundsOf(admitted);
  const waitMs = rounds?.answer === "accept" ? lookAgainMs : null;
  const refusal = new GatewayError("values_needed", message, {}, waitMs);
  const elicitation = { mode: "url", url, message: `Enter your own ${missing}.` };
  if (canOpenAddresses(admitted)) {
    const elicitations = [{ ...elicitation, elicitationId: randomUUID() }];
    refusal.rpcAnswer = { error: { code: urlElicitationRequired, message, data: { elicitations } } };
  } else if (rounds?.answer === null) {
    const inputRequests = { [valuesQuestion]: { method: "elicitation/create", params: elicitation } };
    refusal.rpcAnswer = { result: { resultType: "input_required", inputRequests } };
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

/** Asked by the gateway, among the questions that servers ask in the rounds of a call (2026-07-28). */
const valuesQuestion = "towpath.own_values";
const lookAgainMs = 1000;
/** Requests that may be answered by a question. */
const askable: ReadonlySet<string | null> = new Set(["tools/call", "prompts/get", "resources/read"]);
const capabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
const declaredSchema = z.object({
  params: z.object({
    _meta: z.object({ [capabilitiesKey]: z.object({ elicitation: z.object({ url: z.object({}) }) }) }),
  }),
});
const answeredSchema = z.object({
  params: z.object({ inputResponses: z.object({ [valuesQuestion]: z.object({ action: z.string() }) }) }),
});

/** What the client answered to the gateway's question; null: it wasn't asked yet. Null for one that can't be asked so. */
function roundsOf({ peek, body }: Admitted): { readonly answer: string | null } | null {
  if (peek.era !== "modern" || !askable.has(peek.method)) return null;
  const asked = messageOf(body);
  if (!declaredSchema.safeParse(asked).success) return null;
  return { answer: answeredSchema.safeParse(asked).data?.params.inputResponses[valuesQuestion].action ?? null };
}

/** The request as its server may see it: a question that it hasn't asked has no answer. */
export function withoutValuesAnswer(admitted: Admitted): Admitted {
  const { body, call } = admitted;
  if (call.route.perCaller.length === 0 || !body.includes(valuesQuestion)) return admitted;
  const asked = messageOf(body);
  if (!answeredSchema.safeParse(asked).success) return admitted;
  const { params, ...message } = asked as { params: { inputResponses: Record<string, unknown> } };
  const { [valuesQuestion]: _, ...others } = params.inputResponses;
  const { inputResponses: __, ...rest } = params;
  const left = Object.keys(others).length > 0 ? { ...rest, inputResponses: others } : rest;
  return { ...admitted, body: Buffer.from(JSON.stringify({ ...message, params: left })) };
}

/** Numbers are written again as they were. Null: it is no JSON, which its server may refuse. */
function messageOf(body: Buffer): unknown {
  try {
    return parseExactly(body.toString("utf8"));
  } catch {
    return null;
  }
}
