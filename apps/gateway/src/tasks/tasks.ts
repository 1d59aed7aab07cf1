import { parseExactly } from "@towpath/mcp/peek";
import type { Logger } from "pino";
import type { Rest } from "../call/answer.ts";
import { reply } from "../call/reply.ts";
import type { Admitted } from "../call/states.ts";
import { sessionIdHeader, withoutCompression } from "../forward/headers.ts";
import { GatewayError } from "../gateway-error.ts";
import { notRun } from "../kept/answer-repeat.ts";
import type { KeptCalls } from "../kept/kept-calls.ts";
import type { Forward } from "../kept/live-call.ts";
import type { SealedResults } from "../kept/sealed-results.ts";
import type { TaskOfCall, TaskRow } from "../kept/task-of-call.ts";
import { TaskResponse } from "../kept/task-response.ts";
import { corsHeaders } from "../policy/browsers.ts";
import { type Message, parsedMessage } from "../portal/messages-in.ts";
import { membersOf } from "../portal/portal-request.ts";
import type { PortalReach } from "../portal/reach.ts";
import { declaresTasks, tasksExtension } from "../portal/tasks.ts";
import type { NewCall, TaskMember } from "../read-model/kept-calls.ts";
import type { KeptTaskStore } from "../read-model/kept-tasks.ts";
import type { ObserverParts } from "../record/observe.ts";
import { requestIdHeader } from "../record/request-id.ts";
import { askingOf } from "./asking.ts";
import { addCapability, addTaskSupport, type ChangeAnswer } from "./offers.ts";
import { ownRequest } from "./own-request.ts";
import { keepQuestions, removeAnswered } from "./questions.ts";
import { isOfTasks, serveTask } from "./serve-task.ts";
import { mayAnswerTask, streamEraOf, type TaskEra, taskEraOf } from "./task-era.ts";
import { listOwnerOf, type TaskIds } from "./task-ids.ts";
import type { TaskNotices } from "./task-notices.ts";
import { forwardStream } from "./task-streams.ts";
import { TaskSupport } from "./task-support.ts";
import { created } from "./task-view.ts";
import { tellServer } from "./tell-server.ts";

export type TaskParts = ObserverParts & {
  readonly log: Logger;
  readonly keptCalls: KeptCalls;
  readonly store: KeptTaskStore;
  readonly results: SealedResults;
  readonly taskNotices: TaskNotices;
  readonly ids: TaskIds;
  readonly reach: PortalReach;
};

/**
 * Tasks for servers that don't offer them (CAP-2, decision 090): a claim and its row hold state and result. Calls through
 * a portal are the portal's, with the settings of the server that they are for.
 */
export class Tasks {
  readonly #parts: TaskParts;
  readonly #support: TaskSupport;

  constructor(parts: TaskParts) {
    this.#parts = parts;
    this.#support = new TaskSupport(parts.store, parts.log);
  }

  /** Runs an admitted request: a call that becomes a task, a question about one, or any other. @throws GatewayError */
  run(admitted: Admitted, forward: Forward): Promise<Rest> {
    if (admitted.call.portal !== null) return this.#forPortal(admitted, forward);
    if (mayAnswerTask(admitted)) return this.#answer(admitted, forward);
    const era = taskEraOf(admitted);
    if (isOfPortal(admitted)) return this.#throughPortal(admitted, era, forward);
    if (era !== null) return this.#run({ admitted, era, forward, member: null });
    const streamEra = streamEraOf(admitted);
    return streamEra === null ? this.#plainly(admitted, forward) : this.#stream({ admitted, era: streamEra, forward });
  }

  /** The server has the answer once it accepts it: until then, the client may be asked again. */
  async #answer(admitted: Admitted, forward: Forward): Promise<Rest> {
    const rest = await forward(admitted);
    const { received } = admitted;
    if (received.answer.status < 400) {
      removeAnswered(this.#parts, admitted).catch((error: unknown) => {
        this.#parts.log.warn({ err: error }, "a task's question stays, although it was answered");
      });
    }
    return rest;
  }

  #plainly(admitted: Admitted, forward: Forward): Promise<Rest> {
    return this.#parts.keptCalls.run(admitted, forward);
  }

  async #run(asked: Asked): Promise<Rest> {
    const { admitted, era, forward } = asked;
    const { method } = admitted.peek;
    if (method === "initialize" || method === "server/discover") {
      return forward(changing(admitted, this.#learning(admitted, era)));
    }
    const isOurs = () => this.#support.isOurs(admitted, era, () => this.#discover(asked));
    if (method?.startsWith("tasks/")) {
      return isOfTasks(this.#parts, admitted) || (await isOurs()) ? this.#serve(asked) : forward(admitted);
    }
    if (method === "tools/list") {
      return forward((await isOurs()) ? changing(admitted, addTaskSupport) : admitted);
    }
    if (!asksForTask(admitted, era) || !(await isOurs())) return this.#plainly(admitted, forward);
    return this.#call(asked);
  }

  async #stream(asked: Omit<Asked, "member">): Promise<Rest> {
    const { admitted, era, forward } = asked;
    if (!(await this.#support.isOurs(admitted, era, () => this.#discover(asked)))) return forward(admitted);
    return forwardStream(this.#parts, {
      admitted,
      era,
      forward: (own, change) => forward(change ? changing(own, change) : own),
    });
  }

  #serve(asked: Asked): Promise<Rest> {
    const { admitted, era, forward } = asked;
    const resume = (task: TaskOfCall, own: Admitted, take: () => Promise<boolean>) =>
      this.#resume(own, { task, forward, take });
    const taskFor = (row: NewCall, round: number) => this.#taskOf(asked, { keepMs: row.task?.keepMs ?? 0, row, round });
    return serveTask({ ...this.#parts, resume, taskFor }, { admitted, era });
  }

  /** A portal says itself what it offers, and names the tasks that its servers have of their own. */
  async #throughPortal(admitted: Admitted, era: TaskEra | null, forward: Forward): Promise<Rest> {
    const { method } = admitted.peek;
    if (era !== null && method?.startsWith("tasks/")) {
      const isOurs = era === "legacy" || isOfTasks(this.#parts, admitted);
      return isOurs ? this.#serve({ admitted, era, forward, member: null }) : forward(admitted);
    }
    if (method !== "tools/call") return forward(admitted);
    const placed = await this.#placed(admitted);
    if (placed === null) return forward(admitted);
    if (era !== null && asksForTask(admitted, era)) return this.#call({ ...placed, era, forward });
    const response = new TaskResponse(admitted.call.response);
    const own = { ...placed.admitted, call: { ...placed.admitted.call, response } };
    response.goesOn = (abort) => own.kept?.goesOn(abort) ?? false;
    return this.#plainly(own, forward);
  }

  /** A call of a portal, with the settings of the server that it is for; null: nothing of it is kept. */
  async #placed(admitted: Admitted): Promise<Pick<Asked, "admitted" | "member"> | null> {
    const found = await this.#parts.reach.memberOf(admitted);
    if (found === null || found.route.keepResultsMinutes === 0) return null;
    const { keepResultsMinutes, unattendedMinutes } = found.route;
    const route = { ...admitted.call.route, keepResultsMinutes, unattendedMinutes };
    return { admitted: { ...admitted, call: { ...admitted.call, route } }, member: found.member };
  }

  /** What a portal sends to one of its servers: the portal learns whether the answer may be a task of the server's own. */
  async #forPortal(admitted: Admitted, forward: Forward): Promise<Rest> {
    const { peek, body, received } = admitted;
    if (peek.method === "tools/call") {
      const era = "modern";
      const mayBeTask = peek.era === era && body.includes(tasksExtension) && asksForTask(admitted, era);
      const discover = () => this.#discover({ admitted, era, forward });
      received.answer.isNoTask = !mayBeTask || (await this.#support.isOurs(admitted, era, discover));
    }
    return forward(admitted);
  }

  #learning(admitted: Admitted, era: TaskEra): ChangeAnswer {
    return addCapability(era, (isOwn) => this.#support.learn(admitted, era, isOwn));
  }

  /** Asks a server for its capabilities, as clients of 2026-07-28 needn't; a session has begun with them. */
  async #discover({ admitted, era, forward }: Omit<Asked, "member">): Promise<void> {
    if (era === "legacy") return;
    const { _meta } = paramsOf(admitted);
    const message = { id: "towpath", method: "server/discover", params: { _meta } };
    await forward(changing(ownRequest(admitted, { message, name: null }), this.#learning(admitted, era)));
  }

  /** Runs a call that becomes a task: in 2025-11-25 its client asks for that, in 2026-07-28 it does if it lasts. */
  async #call(asked: Asked): Promise<Rest> {
    const { admitted, era, forward } = asked;
    const { keepResultsMinutes } = admitted.call.route;
    const params = paramsOf(admitted);
    const task = this.#taskOf(asked, { keepMs: keepMsOf(params.task, keepResultsMinutes), row: null, round: 0 });
    const call = { ...admitted.call, response: task.response };
    const body = era === "legacy" ? withoutTask(admitted, params) : admitted.body;
    const own: Admitted = { ...admitted, call, body };
    if (isOfPortal(admitted)) task.response.goesOn = (abort) => own.kept?.goesOn(abort) ?? false;
    const { answer } = admitted.received;
    try {
      return await this.#parts.keptCalls.run(own, forward, task);
    } catch (error) {
      // Its client has a task, which says why.
      if (!task.response.isDetached) throw error;
      if (error instanceof GatewayError) answer.refuse(error);
      else this.#parts.log.error({ err: error, requestId: call.id }, "a task failed in the gateway");
      return "over";
    }
  }

  /** `row`: of a task that goes on, whose server has asked `round` times; null: it begins. */
  #taskOf({ admitted, era, forward, member }: Asked, { keepMs, row, round }: TaskSoFar): TaskOfCall {
    const { ids, store, results, log } = this.#parts;
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
      member,
      isAskedFor: era === "legacy",
      mayBegin: () => !isOfPortal(admitted) || admitted.received.answer.passedOn?.isNoTask === true,
      row,
      response,
      give: (given, running) => {
        const taskId = ids.seal(given.id, admitted);
        const keep = { callId: given.id, taskId, projectId, admitted, running };
        onPiece = era === "legacy" ? keepQuestions({ store, results, log }, keep) : null;
        response.detach(messageFor(admitted, given), [
          ...["cache-control", "no-store", requestIdHeader, call.id],
          ...(session ? [sessionIdHeader, session.id] : []),
          ...corsHeaders(call.request.headers.origin),
        ]);
      },
      repeat: async (to, given) => {
        if (!(await store.mark(given.id, { owner, keepMs, member }))) throw notRun();
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
    const placed = isOfPortal(admitted) ? await this.#placed(admitted) : null;
    const own = placed?.admitted ?? admitted;
    const run = await this.#parts.keptCalls.resume(own, task, take);
    if (run !== null) void this.#runOn(admitted, () => run(forward));
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
type Asked = {
  readonly admitted: Admitted;
  readonly era: TaskEra;
  readonly forward: Forward;
  /** The server of a portal that a call is for; null: the call isn't a portal's. */
  readonly member: TaskMember | null;
};
type Resuming = { readonly task: TaskOfCall; readonly forward: Forward; readonly take: () => Promise<boolean> };

const paramsOf = ({ body }: Admitted): Message => membersOf(parsedMessage(body.toString("utf8"))?.params);

const isOfPortal = ({ call }: Admitted): boolean => call.route.target.kind === "portal";

/** In 2025-11-25 by its call, in 2026-07-28 by what it declares. */
function asksForTask(admitted: Admitted, era: TaskEra): boolean {
  const params = paramsOf(admitted);
  return era === "modern" ? declaresTasks(params) : typeof params.task === "object" && params.task !== null;
}

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
