import { setTimeout as sleep } from "node:timers/promises";
import { parseExactly } from "@towpath/mcp/peek";
import type { Pool } from "pg";
import type { Logger } from "pino";
import type { Rest } from "../call/answer.ts";
import { reply } from "../call/reply.ts";
import type { Admitted } from "../call/states.ts";
import { sessionIdHeader, withoutCompression } from "../forward/headers.ts";
import { GatewayError } from "../gateway-error.ts";
import { notRun } from "../kept/answer-repeat.ts";
import type { KeptCalls } from "../kept/kept-calls.ts";
import type { SealedResults } from "../kept/sealed-results.ts";
import type { TaskOfCall, TaskRow } from "../kept/task-of-call.ts";
import { TaskResponse } from "../kept/task-response.ts";
import { corsHeaders } from "../policy/browsers.ts";
import { type Message, parsedMessage } from "../portal/messages-in.ts";
import { membersOf } from "../portal/portal-request.ts";
import { declaresTasks } from "../portal/tasks.ts";
import type { NewCall } from "../read-model/kept-calls.ts";
import { KeptTaskStore } from "../read-model/kept-tasks.ts";
import type { ObserverParts } from "../record/observe.ts";
import { requestIdHeader } from "../record/request-id.ts";
import { askingOf } from "./asking.ts";
import { addCapability, addTaskSupport, type ChangeAnswer } from "./offers.ts";
import { ownRequest } from "./own-request.ts";
import { keepQuestions } from "./questions.ts";
import { isOfTasks, serveTask } from "./serve-task.ts";
import { type TaskEra, taskEraOf } from "./task-era.ts";
import { listOwnerOf, type TaskIds } from "./task-ids.ts";
import { TaskSupport } from "./task-support.ts";
import { viewOf } from "./task-view.ts";

/** A server that doesn't answer is left alone. */
const tellWithinMs = 1000;

export type TaskParts = ObserverParts & {
  readonly pool: Pool;
  readonly log: Logger;
  readonly keptCalls: KeptCalls;
  readonly results: SealedResults;
  readonly ids: TaskIds;
};

/** Forwards a request to its server. */
export type Forward = (admitted: Admitted) => Promise<Rest>;

/** Tasks for servers that don't offer them (CAP-2, decision 090): a claim and its row hold state and result. */
export class Tasks {
  readonly #parts: TaskParts;
  readonly #store: KeptTaskStore;
  readonly #support: TaskSupport;

  constructor(parts: TaskParts) {
    this.#parts = parts;
    this.#store = new KeptTaskStore(parts.pool, parts.keptCalls.store);
    this.#support = new TaskSupport(this.#store, parts.log);
  }

  /** Runs an admitted request: a call that becomes a task, a question about one, or any other. @throws GatewayError */
  run(admitted: Admitted, forward: Forward): Promise<Rest> {
    const era = taskEraOf(admitted);
    return era === null ? this.#plainly(admitted, forward) : this.#run({ admitted, era, forward });
  }

  #plainly(admitted: Admitted, forward: Forward): Promise<Rest> {
    return this.#parts.keptCalls.run(admitted, () => forward(admitted));
  }

  async #run({ admitted, era, forward }: Asked): Promise<Rest> {
    const { method } = admitted.peek;
    if (method === "initialize" || method === "server/discover") {
      return forward(changing(admitted, this.#learning(admitted, era)));
    }
    const isOurs = () => this.#support.isOurs(admitted, era, () => this.#discover({ admitted, era, forward }));
    if (method?.startsWith("tasks/")) {
      if (!isOfTasks(this.#parts, admitted) && !(await isOurs())) return forward(admitted);
      const resume = (task: TaskOfCall, own: Admitted, take: () => Promise<boolean>) =>
        this.#resume(own, { task, forward, take });
      const taskFor = (row: NewCall, round: number) =>
        this.#taskOf({ admitted, era, forward }, { keepMs: row.task?.keepMs ?? 0, row, round });
      return serveTask({ ...this.#parts, store: this.#store, resume, taskFor }, { admitted, era });
    }
    if (method === "tools/list") {
      return forward((await isOurs()) ? changing(admitted, addTaskSupport) : admitted);
    }
    const params = paramsOf(admitted);
    const asked = era === "modern" ? declaresTasks(params) : typeof params.task === "object" && params.task !== null;
    if (!asked || !(await isOurs())) return this.#plainly(admitted, forward);
    return this.#call({ admitted, era, forward }, params);
  }

  #learning(admitted: Admitted, era: TaskEra): ChangeAnswer {
    return addCapability(era, (isOwn) => this.#support.learn(admitted, era, isOwn));
  }

  /** Asks a server for its capabilities, as clients of 2026-07-28 needn't; a session has begun with them. */
  async #discover({ admitted, era, forward }: Asked): Promise<void> {
    if (era === "legacy") return;
    const { _meta } = paramsOf(admitted);
    const message = { id: "towpath", method: "server/discover", params: { _meta } };
    await forward(changing(ownRequest(admitted, { message, name: null }), this.#learning(admitted, era)));
  }

  /** Runs a call that becomes a task: in 2025-11-25 its client asks for that, in 2026-07-28 it does if it lasts. */
  async #call(asked: Asked, params: Message): Promise<Rest> {
    const { admitted, era, forward } = asked;
    const { keepResultsMinutes } = admitted.call.route;
    const task = this.#taskOf(asked, { keepMs: keepMsOf(params.task, keepResultsMinutes), row: null, round: 0 });
    const call = { ...admitted.call, response: task.response };
    const body = era === "legacy" ? withoutTask(admitted, params) : admitted.body;
    const own: Admitted = { ...admitted, call, body };
    const { answer } = admitted.received;
    try {
      return await this.#parts.keptCalls.run(own, () => forward(own), task);
    } catch (error) {
      // Its client has a task, which says why.
      if (!task.response.isDetached) throw error;
      if (error instanceof GatewayError) answer.refuse(error);
      else this.#parts.log.error({ err: error, requestId: call.id }, "a task failed in the gateway");
      return "over";
    }
  }

  /** `row`: of a task that goes on, whose server has asked `round` times; null: it begins. */
  #taskOf({ admitted, era, forward }: Asked, { keepMs, row, round }: TaskSoFar): TaskOfCall {
    const { ids, results, log } = this.#parts;
    const { call, session } = admitted;
    const { projectId } = call.route;
    const owner = listOwnerOf(admitted);
    const response = new TaskResponse(row === null ? call.response : null);
    const messageFor = (to: Admitted, { id, startedAt }: TaskRow) =>
      JSON.stringify({ jsonrpc: "2.0", id: to.peek.id, result: created(era, ids.seal(id, to), { startedAt, keepMs }) });
    let onPiece: ((piece: Buffer) => void) | null = null;
    const task: TaskOfCall = {
      owner,
      keepMs,
      isAskedFor: era === "legacy",
      row,
      response,
      give: (given, cut) => {
        const taskId = ids.seal(given.id, admitted);
        const keep = { callId: given.id, taskId, projectId, admitted, cut };
        onPiece = era === "legacy" ? keepQuestions({ store: this.#store, results, log }, keep) : null;
        response.detach(messageFor(admitted, given), [
          ...["cache-control", "no-store", requestIdHeader, call.id],
          ...(session ? [sessionIdHeader, session.id] : []),
          ...corsHeaders(call.request.headers.origin),
        ]);
      },
      repeat: async (to, given) => {
        if (!(await this.#store.mark(given.id, { owner, keepMs }))) throw notRun();
        const body = Buffer.from(messageFor(to, given));
        return reply(to, { status: 200, type: "application/json", sessionId: to.session?.id ?? null, body });
      },
      onPiece: (piece) => onPiece?.(piece),
      asking: (own, result) => askingOf(own, result, round + 1),
      tellServer: (own) => tellServer(own, forward),
    };
    return task;
  }

  /** Runs a task on with its client's answers, in the background. False: another request does. @throws GatewayError */
  async #resume(admitted: Admitted, { task, forward, take }: Resuming): Promise<boolean> {
    const run = await this.#parts.keptCalls.resume(admitted, task, take);
    if (run !== null) void this.#runOn(admitted, () => run(() => forward(admitted)));
    return run !== null;
  }

  /** Its log row is one of its own. Never rejects. */
  async #runOn(admitted: Admitted, run: () => Promise<void>): Promise<void> {
    const { recorder, log } = this.#parts;
    const { answer } = admitted.received;
    try {
      await run();
    } catch (error) {
      if (error instanceof GatewayError) answer.refuse(error);
      else log.error({ err: error, requestId: admitted.call.id }, "a task failed in the gateway");
    }
    answer.endedAt ??= performance.now();
    recorder.record(admitted);
  }
}

type TaskSoFar = { readonly keepMs: number; readonly row: NewCall | null; readonly round: number };
type Asked = { readonly admitted: Admitted; readonly era: TaskEra; readonly forward: Forward };
type Resuming = { readonly task: TaskOfCall; readonly forward: Forward; readonly take: () => Promise<boolean> };

const paramsOf = ({ body }: Admitted): Message => membersOf(parsedMessage(body.toString("utf8"))?.params);

/** As long as the client wants it, and the project allows. */
function keepMsOf(task: unknown, minutes: number): number {
  const { ttl } = membersOf(task);
  const most = minutes * 60_000;
  return typeof ttl === "number" && ttl >= 0 ? Math.min(Math.ceil(ttl), most) : most;
}

/** A server without tasks gets a call as any other. */
function withoutTask({ body }: Admitted, { task, ...params }: Message): Buffer {
  return Buffer.from(JSON.stringify({ ...(parseExactly(body.toString("utf8")) as Message), params }));
}

/** A request whose answer is changed on its way, for which it must be text. */
function changing(admitted: Admitted, change: ChangeAnswer): Admitted {
  return { ...admitted, headers: withoutCompression(admitted.headers), change };
}

function created(era: TaskEra, taskId: string, { startedAt, keepMs }: { startedAt: Date; keepMs: number }): Message {
  const begun = { state: "running", known: null, endedAt: null, isFailed: false, sealed: null } as const;
  const expiresAt = new Date(startedAt.getTime() + keepMs);
  const task = viewOf(era, taskId, { ...begun, startedAt, keepMs, expiresAt });
  return era === "legacy" ? { task } : { ...task, resultType: "task" };
}

/** In 2025-11-25, a server goes on when its connection closes: it learns by a message. */
async function tellServer(admitted: Admitted, forward: Forward): Promise<void> {
  const { session, peek } = admitted;
  // In 2026-07-28, closing the stream cancels.
  if (session === null || peek.id === null) return;
  session.canceled ??= new Set();
  session.canceled.add(peek.id);
  const params = { requestId: peek.id, reason: "The task was canceled." };
  const sent = forward(ownRequest(admitted, { message: { method: "notifications/cancelled", params }, name: null }));
  await Promise.race([sent.catch(() => {}), sleep(tellWithinMs, undefined, { ref: false })]);
}
