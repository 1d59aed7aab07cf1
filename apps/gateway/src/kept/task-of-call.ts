import type { Rest } from "../call/answer.ts";
import type { Admitted } from "../call/states.ts";
import type { Message } from "../portal/messages-in.ts";
import type { NewCall, TaskRowOfCall } from "../read-model/kept-calls.ts";
import type { TaskResponse } from "./task-response.ts";

/** What a client gets of a call that becomes a task. */
export type TaskRow = Pick<NewCall, "id" | "startedAt">;

/** A task while it runs in this process. `cut`: ends it, for a reason in words. */
export type RunningTask = { cut(reason: string): void; readonly ended: Promise<unknown> };

/** How a call becomes a task: whose it is, and what its client gets in place of the result. */
export interface TaskOfCall extends TaskRowOfCall {
  /** The client asks for a task, so it gets one before the call is sent; else if the call lasts. */
  readonly isAskedFor: boolean;
  /** Of a task that goes on with its client's answers; null: it begins. */
  readonly row: NewCall | null;
  readonly response: TaskResponse;
  /** False: it may be a task of its server's own. */
  mayBegin(): boolean;
  /** Answers the client with the task. */
  give(row: TaskRow, running: RunningTask): void;
  /** Answers a request that repeats the call. */
  repeat(admitted: Admitted, row: TaskRow): Promise<Rest>;
  /** A piece of the server's answer, once it is a task. */
  onPiece(piece: Buffer): void;
  /** What is kept of a task that waits for its client's answers. `result`: the server's, which asks for them. */
  asking(admitted: Admitted, result: Message): Message;
  /** Tells the server that the task was canceled. Never rejects. */
  tellServer(admitted: Admitted): Promise<void>;
}
