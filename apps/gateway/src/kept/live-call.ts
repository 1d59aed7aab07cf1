import type { Rest } from "../call/answer.ts";
import type { Admitted, Keeping } from "../call/states.ts";
import type { EndState, NewCall } from "../read-model/kept-calls.ts";
import type { Identity } from "./identity.ts";
import type { TaskOfCall } from "./task-of-call.ts";

const maxAnswerBytes = 4 * 1024 * 1024;

/** How a call ended. `message`: the result or error that answers it, without an id; null: none is known. */
export type Ended = {
  readonly state: EndState;
  readonly known: string | null;
  readonly message: Record<string, unknown> | null;
};

/** Bounds what all calls of a process hold of their answers. */
export type Memory = { take: (bytes: number) => boolean; give: (bytes: number) => void };

type Hooks = {
  readonly memory: Memory;
  /** Whether the call may go on without its client. */
  readonly mayGoOn: (live: LiveCall) => boolean;
  readonly onLeft: (live: LiveCall) => void;
  /** Null: its client gets no task. */
  readonly task: TaskOfCall | null;
};

/** Forwards a request to its server. */
export type Forward = (admitted: Admitted) => Promise<Rest>;

export type Asked = Pick<LiveCall, "admitted" | "identity" | "task">;

/** By which a call is found in its process. */
export const nameOf = ({ identity, admitted }: Asked): string =>
  identity.name ?? (identity.kind === "task" ? `task ${admitted.call.id}` : identity.hashes().claim);

/** Whether a request that is found under the name of a call is the same call. */
export function isSameCall({ row }: LiveCall, { kind, hashes }: Identity): boolean {
  const { claim, argumentsHash } = hashes();
  // A key's claim says nothing of the arguments. All others say all: two callers may have one session id of their server.
  return kind === "key" ? row.argumentsHash === argumentsHash : row.claim === claim;
}

/** Whether a call's own client gets all of the answer. Ask before it has. */
export function isDelivered({ isUnattended, admitted }: LiveCall): Promise<boolean> {
  const { response } = admitted.call;
  // Behind a portal, the response of a call without its client stays open.
  if (isUnattended) return Promise.resolve(false);
  if (response.destroyed) return Promise.resolve(response.writableFinished);
  return new Promise((resolve) => response.once("close", () => resolve(response.writableFinished)));
}

/**
 * Whether what its client got has the server's answer, and not only an error of ours or the end of a stream, while nobody
 * else waits for it.
 */
export function isAnswered({ admitted, isAwaited }: LiveCall): boolean {
  const { refusal, peek } = admitted.received.answer;
  return !isAwaited && refusal === null && (peek === null || peek.answers.length > 0);
}

/** A call that may be asked for again, while it runs in this process. */
export class LiveCall implements Keeping {
  readonly admitted: Admitted;
  readonly identity: Identity;
  readonly #hooks: Hooks;
  readonly #begun = Promise.withResolvers<boolean>();
  readonly #ended = Promise.withResolvers<Ended | null>();
  #chunks: Buffer[] | null = [];
  #held = 0;
  #abort: (() => void) | null = null;
  #onPiece: ((piece: Buffer) => void) | null = null;
  /** How it becomes a task; null: it doesn't. */
  readonly task: TaskOfCall | null;
  /** Its client has left. */
  isUnattended = false;
  /** Its client has a task in place of the result. */
  isTask = false;
  isCanceled = false;
  /** Another request waits for it in this process. */
  isAwaited = false;
  /** Whether it has its claim: null: nobody asked for it yet; false: another call has it. */
  claimed: Promise<boolean> | null = null;
  /** Why it was ended in the end; null: it wasn't. */
  cutReason: string | null = null;
  cancelAtServer: (() => Promise<unknown>) | null = null;
  /** Its stream was resumed, as its server had ended it early. */
  isFollowed = false;
  /** Null before it is run. */
  forward: Forward | null = null;

  /** Resolves once its end is stored, where it has to be. */
  stored: Promise<void> = Promise.resolve();

  constructor(admitted: Admitted, identity: Identity, hooks: Hooks) {
    this.admitted = admitted;
    this.identity = identity;
    this.#hooks = hooks;
    this.task = hooks.task;
  }

  get row(): NewCall {
    const { call } = this.admitted;
    const { claim, argumentsHash } = this.identity.hashes();
    const { projectId, keepResultsMinutes } = call.route;
    if (this.task?.row) return this.task.row;
    return {
      id: call.id,
      projectId,
      claim,
      argumentsHash,
      repeatName: this.identity.name,
      startedAt: new Date(call.time),
      keepMs: keepResultsMinutes * 60_000,
      task: this.task,
    };
  }

  /** Whether it is run; false: another process has its claim. */
  get begun(): Promise<boolean> {
    return this.#begun.promise;
  }

  /** Resolves once it has ended; to null if nothing was run. */
  get ended(): Promise<Ended | null> {
    return this.#ended.promise;
  }

  goesOn(abort: () => void): boolean {
    if (this.isCanceled || this.cutReason !== null || !this.#hooks.mayGoOn(this)) return false;
    this.#abort = abort;
    this.isUnattended = true;
    this.#hooks.onLeft(this);
    return true;
  }

  /** Its client gets a task, whose end closes `response`. */
  becomesTask(): void {
    this.isTask = true;
    this.isUnattended = true;
    this.#abort = () => this.task?.response.destroy();
    this.#hooks.onLeft(this);
  }

  push(piece: Buffer): void {
    if (this.isTask) this.task?.onPiece(piece);
    else this.#onPiece?.(piece);
    if (this.#chunks === null) return;
    const isRoom = this.#held + piece.length <= maxAnswerBytes && this.#hooks.memory.take(piece.length);
    if (!isRoom) {
      this.#drop();
      return;
    }
    this.#held += piece.length;
    this.#chunks.push(piece);
  }

  /** Its client has left: `onPiece` gets what its server sends from now on, as whole events. */
  passPieces(onPiece: (piece: Buffer) => void): void {
    this.#onPiece = onPiece;
    const held = Buffer.concat(this.#chunks ?? []);
    onPiece(held.subarray(endOfEvents(held)));
  }

  /** Canceled, or cut off. */
  get isEnded(): boolean {
    return this.isCanceled || this.cutReason !== null;
  }

  /** What ends it from now on. */
  abortBy(abort: () => void): void {
    this.#abort = abort;
  }

  /** What its server has answered so far; null: that is not held. */
  get text(): string | null {
    return this.#chunks && Buffer.concat(this.#chunks, this.#held).toString("utf8");
  }

  /** Forgets the beginning of an event that broke off: its server sends it again. Returns the events. */
  takeWholeEvents(): string {
    const held = Buffer.concat(this.#chunks ?? [], this.#held);
    const whole = held.subarray(0, endOfEvents(held));
    this.#hooks.memory.give(held.length - whole.length);
    this.#held = whole.length;
    this.#chunks = [whole];
    if (whole.length < held.length) this.task?.onPiece(Buffer.from("\n\n"));
    return whole.toString("utf8");
  }

  /** The answer's bytes; null: there was no room for them. */
  takeBytes(): Buffer | null {
    const bytes = this.#chunks && Buffer.concat(this.#chunks, this.#held);
    this.#drop();
    return bytes;
  }

  /** The client wants no result. */
  cancel(): void {
    if (this.isCanceled) return;
    this.isCanceled = true;
    // The server learns of it by a message, where closing the connection says nothing.
    const telling = this.isTask && this.task ? this.task.tellServer(this.admitted) : this.cancelAtServer?.();
    if (telling) void telling.finally(() => this.#abort?.());
    else this.#abort?.();
  }

  /** Ends a call that has no client: it has lasted too long, or the gateway stops. */
  cut(reason: string): void {
    this.cutReason ??= reason;
    this.#abort?.();
  }

  begin(): void {
    this.#begun.resolve(true);
  }

  finish(ended: Ended | null): void {
    this.#drop();
    this.#begun.resolve(false);
    this.#ended.resolve(ended);
  }

  #drop(): void {
    this.#hooks.memory.give(this.#held);
    this.#held = 0;
    this.#chunks = null;
  }
}

/** Where the last whole event of a stream ends. */
function endOfEvents(bytes: Buffer): number {
  const ends = ["\n\n", "\r\n\r\n"].filter((end) => bytes.includes(end));
  return Math.max(0, ...ends.map((end) => bytes.lastIndexOf(end) + end.length));
}
