import { randomUUID } from "node:crypto";
import { z } from "zod";
import type { Admitted } from "../call/states.ts";
import type { TaskResponse } from "../kept/task-response.ts";
import { checkTools } from "../policy/tools.ts";
import { serverFor } from "../policy/versions.ts";
import { type Message, parsedMessage } from "../portal/messages-in.ts";
import { membersOf } from "../portal/portal-request.ts";
import { ownRequest } from "./own-request.ts";

const members = z.record(z.string(), z.unknown());

/** A task of 2026-07-28 that waits for its client: what the server asked, and how the call goes on with the answers. */
const askingSchema = z.object({
  inputRequests: members,
  requestState: z.string().nullable(),
  answers: members,
  /** Of the call: in the first round without answers. */
  params: members,
  /** `Mcp-Param-*`, flat. */
  headers: z.array(z.string()),
  /** The version that runs the task. */
  deploymentId: z.string().nullable(),
  round: z.number(),
});
export type Asking = z.infer<typeof askingSchema>;

/** Null: it is something else. */
export const askingIn = (opened: Message | null): Asking | null => askingSchema.safeParse(opened).data ?? null;

/** What is kept of a call whose server asks for input. `round`: how often it has asked. */
export function askingOf(admitted: Admitted, result: Message, round: number): Message {
  const { params } = parsedMessage(admitted.body.toString("utf8")) ?? {};
  const { inputResponses, requestState, ...asked } = membersOf(params);
  // A server may use a name again, which stands for one question only in the life of a task.
  const named = Object.entries(membersOf(result.inputRequests)).map(([key, request]) => [nameOf(round, key), request]);
  return {
    inputRequests: Object.fromEntries(named),
    requestState: typeof result.requestState === "string" ? result.requestState : null,
    answers: {},
    params: asked,
    headers: admitted.headers.filter((_, at) => /^mcp-param-/i.test(admitted.headers[at - (at % 2)] ?? "")),
    deploymentId: admitted.deploymentId,
    round,
  } satisfies Asking;
}

const nameOf = (round: number, key: string): string => (round === 1 ? key : `${round}/${key}`);
const ownNameOf = (round: number, name: string): string => (round === 1 ? name : name.slice(`${round}/`.length));

/** The questions that are still to be answered. */
export const openQuestions = ({ inputRequests, answers }: Asking): Message =>
  Object.fromEntries(Object.entries(inputRequests).filter(([name]) => !Object.hasOwn(answers, name)));

/** With the answers to what is asked; others don't count. */
export function answered(asking: Asking, given: Message): Asking {
  const open = openQuestions(asking);
  const fitting = Object.entries(given).filter(([name]) => Object.hasOwn(open, name));
  return { ...asking, answers: { ...asking.answers, ...Object.fromEntries(fitting) } };
}

/**
 * The call that goes on, with the answers, in place of the request that brought the last one.
 *
 * @throws GatewayError if its caller may no longer call the tool
 */
export function nextRound(update: Admitted, asking: Asking, response: TaskResponse): Admitted {
  const { round, answers, requestState, params } = asking;
  const inputResponses = Object.fromEntries(
    Object.entries(answers).map(([name, value]) => [ownNameOf(round, name), value]),
  );
  const state = requestState === null ? {} : { requestState };
  const id = `towpath-${randomUUID()}`;
  const message = { id, method: "tools/call", params: { ...params, inputResponses, ...state } };
  const { deploymentId, headers } = asking;
  const next = ownRequest(update, { message, name: String(params.name), headers, response });
  const { route, request } = next.call;
  if (route.access?.tools) checkTools(route.access.tools, { request, isMcp: true, body: next.body });
  return { ...next, deploymentId, server: serverFor(route, deploymentId, update.principal) };
}
