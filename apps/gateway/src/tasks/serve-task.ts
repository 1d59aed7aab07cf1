import type { Rest } from "../call/answer.ts";
import { reply } from "../call/reply.ts";
import type { Admitted } from "../call/states.ts";
import { GatewayError } from "../gateway-error.ts";
import { noRoomForAnswers } from "../kept/answer-repeat.ts";
import type { Message } from "../portal/messages-in.ts";
import { checkModern, membersOf, parsePortalMessage } from "../portal/portal-request.ts";
import type { StoredTask, TaskCursor } from "../read-model/kept-tasks.ts";
import { answered, nextRound, openQuestions } from "./asking.ts";
import { awaitResult } from "./await-result.ts";
import { type Found, type ServeParts, type Serving, whenFetched } from "./serving.ts";
import { askingOfTask, isReached, modernTask } from "./shown-task.ts";
import type { TaskEra } from "./task-era.ts";
import { listOwnerOf } from "./task-ids.ts";
import { viewOf } from "./task-view.ts";
import type { TaskParts } from "./tasks.ts";

const pageSize = 50;

type Asked = { readonly admitted: Admitted; readonly era: TaskEra };
/** Whether a request names a task of the gateway's. */
export function isOfTasks({ ids }: Pick<TaskParts, "ids">, admitted: Admitted): boolean {
  return ids.open(admitted.peek.target, admitted) !== null;
}

/** Answers a question about a task of the gateway's, or one that isn't there. */
export async function serveTask(parts: ServeParts, { admitted, era }: Asked): Promise<Rest> {
  const message = parsePortalMessage(admitted.body);
  const { id } = admitted.peek;
  if (message.kind !== "request") return refuse(admitted, { code: -32600, message: "It is no request.", status: 400 });
  const refused = era === "modern" ? checkModern(admitted.call.request, message) : null;
  if (refused) return refuse(admitted, { ...refused, status: 400 });
  const serving = { parts, admitted, message };
  if (message.method === "tasks/list") return listTasks(serving);
  const taskId = message.params.taskId;
  const callId = parts.ids.open(taskId, admitted);
  const task = callId && (await parts.store.find(callId, admitted.owner.projectId));
  if (!task || typeof taskId !== "string" || !(await isReached(parts, admitted, task))) {
    return refuse(admitted, { code: -32602, message: "Task not found: there is none with this id, or no longer." });
  }
  const found = { ...serving, task, taskId };
  switch (`${era} ${message.method}`) {
    case "legacy tasks/get":
      return answer(admitted, viewOf(era, taskId, task));
    case "legacy tasks/result":
      return awaitResult(found);
    case "legacy tasks/cancel":
      return cancelTask(found, era);
    case "modern tasks/get":
      return getTask(found);
    case "modern tasks/update":
      return updateTask(found);
    case "modern tasks/cancel":
      return cancelTask(found, era);
    default:
      return replyWith(admitted, { jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } }, 404);
  }
}

/** With its result, as 2026-07-28 has no other way to it; or with what is asked. */
async function getTask(found: Found): Promise<Rest> {
  const { parts, admitted, task } = found;
  const { view, hasResult, again } = modernTask(parts.results, admitted, found);
  // Without room for the call, the next look does it.
  if (again !== null) await goOn(found, again, task.sealed ?? "").catch(unlessBusy);
  const rest = answer(admitted, { ...view, ...complete });
  if (hasResult) whenFetched(found);
  return rest;
}

const complete = { resultType: "complete" } as const;

function unlessBusy(error: unknown): void {
  if (!(error instanceof GatewayError) || error.code !== "server_busy") throw error;
}

/** Of what a task is kept by until its client has answered all: the call's parameters, questions and answers. */
const maxAskingBytes = 4 * 1024 * 1024;

async function updateTask(found: Found): Promise<Rest> {
  const { parts, admitted, message } = found;
  const { store, results } = parts;
  for (let { task }: { task: StoredTask | null } = found; task !== null && task.sealed !== null; ) {
    const { id, sealed } = task;
    const asking = askingOfTask(results, admitted, task);
    if (!asking) break;
    const next = answered(asking, membersOf(message.params.inputResponses));
    if (JSON.stringify(next).length > maxAskingBytes) return refuse(admitted, { code: -32602, message: tooLarge });
    const isWhole = Object.keys(openQuestions(next)).length === 0;
    const { projectId } = admitted.owner;
    if (isWhole && (await goOn({ ...found, task }, next, sealed))) break;
    const stored = isWhole
      ? "changed"
      : await store.answer({ id, projectId }, sealed, results.seal(id, admitted, next).sealed);
    if (stored === "no room") throw noRoomForAnswers();
    if (stored === "stored") break;
    // Another request was faster, with answers to other questions perhaps.
    task = await store.find(id, projectId);
  }
  return answer(admitted, { ...complete });
}

const tooLarge = "The answers to what this task asks are larger than 4 MiB together. Send shorter ones, or cancel it.";

/** False: another request has it going on already. @throws GatewayError if its caller may no longer call the tool */
async function goOn(
  { parts, admitted, task }: Found,
  asking: Parameters<typeof nextRound>[1],
  sealed: string,
): Promise<boolean> {
  const { id, argumentsHash, startedAt, keepMs } = task;
  const { projectId } = admitted.owner;
  const claim = `resumed ${id}`;
  const { member } = task;
  const row = {
    id,
    projectId,
    claim,
    argumentsHash,
    repeatName: null,
    startedAt,
    keepMs,
    task: { owner: null, keepMs, member },
  };
  const next = parts.taskFor(row, asking.round);
  const own = nextRound(admitted, asking, next.response);
  return parts.resume(next, own, () => parts.store.resume(id, sealed));
}

async function cancelTask({ parts, admitted, task, taskId }: Found, era: TaskEra): Promise<Rest> {
  const { store, keptCalls } = parts;
  const isCanceled = await store.cancel(task.id, task.keepMs);
  // Another process learns of it when it next says that it lives.
  if (isCanceled) keptCalls.cancel(task.id);
  if (era === "modern") return answer(admitted, { ...complete });
  const now = isCanceled ? await store.find(task.id, admitted.owner.projectId) : null;
  if (now) return answer(admitted, viewOf(era, taskId, now));
  return refuse(admitted, { code: -32602, message: "The task has ended already, so it can't be canceled." });
}

async function listTasks({ parts, admitted, message }: Serving): Promise<Rest> {
  const { cursor } = message.params;
  const after = cursor === undefined ? null : cursorIn(cursor);
  if (after === undefined) return refuse(admitted, { code: -32602, message: "This cursor is not from this list." });
  const owner = listOwnerOf(admitted);
  const found = owner === null ? [] : await parts.store.list(owner, after, pageSize + 1);
  const page = found.slice(0, pageSize);
  const last = page.at(-1);
  const reaches = await parts.reach.reaches(admitted);
  const tasks = page
    .filter(({ member }) => member === null || reaches(member))
    .map((task) => viewOf("legacy", parts.ids.seal(task.id, admitted), task));
  return answer(admitted, { tasks, ...(found.length > pageSize && last && { nextCursor: cursorOf(last) }) });
}

const cursorOf = ({ startedAt, id }: TaskCursor): string =>
  Buffer.from(`${startedAt.getTime()} ${id}`).toString("base64url");

/** Undefined: it isn't ours. */
function cursorIn(cursor: unknown): TaskCursor | undefined {
  const text = Buffer.from(String(cursor), "base64url").toString("latin1");
  const [, time, id] = /^(\d{1,14}) ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(text) ?? [];
  return time === undefined || id === undefined ? undefined : { startedAt: new Date(Number(time)), id };
}

const answer = (admitted: Admitted, result: Message): Rest =>
  replyWith(admitted, { jsonrpc: "2.0", id: admitted.peek.id, result }, 200);

function refuse(
  admitted: Admitted,
  { status = 200, ...error }: { code: number; message: string; status?: number },
): Rest {
  return replyWith(admitted, { jsonrpc: "2.0", id: admitted.peek.id, error }, status);
}

function replyWith(admitted: Admitted, message: Message, status: number): Rest {
  const body = Buffer.from(JSON.stringify(message));
  return reply(admitted, { status, type: "application/json", sessionId: admitted.session?.id ?? null, body });
}
