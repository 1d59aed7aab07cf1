import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Admitted } from "../call/states.ts";
import type { SealedResults } from "../kept/sealed-results.ts";
import type { RunningTask } from "../kept/task-of-call.ts";
import type { Message } from "../portal/messages-in.ts";
import type { KeptTaskStore, StoredTask } from "../read-model/kept-tasks.ts";
import { createRequestFinder, ofTask } from "./server-requests.ts";
import { listOwnerOf } from "./task-ids.ts";

type Parts = { readonly store: KeptTaskStore; readonly results: SealedResults; readonly log: Logger };
type Keep = {
  readonly callId: string;
  readonly taskId: string;
  readonly projectId: string;
  readonly admitted: Admitted;
  readonly running: RunningTask;
};

/** Of one task, that its client has not answered: in memory, and in its row. */
const maxQuestions = 100;
const maxBytes = 1024 * 1024;
const tooMany =
  "Its server asked its client for more than is kept: 100 questions or 1 MiB that the client had not answered.";
const noRoom =
  "Its server asked its client for something, and the results that are kept for this server left no room for that.";
/** Pauses between attempts to store a question; the last one repeats. */
const againMs = [200, 500, 1000, 2000, 5000];
/** A request holds what it passes on for ten seconds. */
const holdAgainMs = 4000;

/**
 * What a legacy server asks of the client of a task: kept until the client's answer has passed. Without the database it
 * waits for that, as long as the task runs.
 */
export function keepQuestions(parts: Parts, keep: Keep): (piece: Buffer) => void {
  const { taskId, running } = keep;
  let waiting: readonly Message[] = [];
  let isStoring = false;
  let isOver = false;
  void running.ended.then(() => {
    isOver = true;
  });
  const giveUp = (reason: string) => {
    isOver = true;
    running.cut(reason);
  };
  const store = async () => {
    isStoring = true;
    for (let failed = 0; waiting.length > 0 && !isOver; ) {
      const questions = waiting;
      const outcome = await storeQuestions(parts, keep, questions).catch((error: unknown) => {
        parts.log.warn({ err: error }, "a server's question to the client of a task can't be kept yet");
        return "later" as const;
      });
      if (outcome === "too many") giveUp(tooMany);
      if (outcome === "no room") giveUp(noRoom);
      if (outcome === "stored") waiting = waiting.slice(questions.length);
      else await sleep(againMs[Math.min(failed++, againMs.length - 1)], undefined, { ref: false });
    }
    isStoring = false;
  };
  return createRequestFinder((request) => {
    waiting = [...waiting, ofTask(request, "params", taskId)];
    if (!isWithin(waiting)) giveUp(tooMany);
    if (!isStoring) void store();
  });
}

/** Adds questions to those of a task. `later`: it doesn't count as running: it ends, or its gateway is still to say that it is alive. */
async function storeQuestions(
  { store, results }: Parts,
  { callId, projectId, admitted }: Keep,
  questions: readonly Message[],
): Promise<"stored" | "too many" | "no room" | "later"> {
  const session = admitted.session?.key ?? null;
  for (;;) {
    const task = await store.find(callId, projectId);
    if (task?.state !== "running") return "later";
    const { sealed } = task;
    const known = sealed === null ? [] : questionsIn(results.open(callId, admitted, sealed));
    // An attempt whose answer got lost may have stored them.
    const added = questions.filter(({ id }) => !known.some((each) => each.id === id));
    const asked = [...known, ...added];
    if (!isWithin(asked)) return "too many";
    const now = results.seal(callId, admitted, { asked, session }).sealed;
    const stored = await (sealed === null
      ? store.ask(callId, projectId, now)
      : store.answer({ id: callId, projectId }, sealed, now));
    // An answer may have come meanwhile.
    if (stored !== "changed") return stored;
  }
}

const isWithin = (questions: readonly Message[]): boolean =>
  questions.length <= maxQuestions && JSON.stringify(questions).length <= maxBytes;

/** The questions of a running task. */
function questionsIn(opened: Message | null): readonly Message[] {
  return Array.isArray(opened?.asked) ? opened.asked : [];
}

/**
 * What a running task asks, for one request at a time, which passes it on. A client that leaves before it has answered
 * gets the same questions by its next request.
 */
export class HeldQuestions {
  readonly #parts: Parts;
  readonly #admitted: Admitted;
  readonly #taken = new Set<unknown>();
  #callId: string | null = null;
  /** What is held, and since when. */
  #sealed: string | null = null;
  #heldAt = 0;

  constructor(parts: Parts, admitted: Admitted) {
    this.#parts = parts;
    this.#admitted = admitted;
  }

  /** Those that this request is still to pass on. */
  async take({ id, sealed }: Pick<StoredTask, "id" | "sealed">): Promise<readonly Message[]> {
    const { store, results, log } = this.#parts;
    const now = performance.now();
    if (sealed === null || (sealed === this.#sealed && now - this.#heldAt < holdAgainMs)) return [];
    try {
      const hold = { holder: this.#admitted.call.id, isFirst: sealed !== this.#sealed };
      if (!(await store.holdAsked(id, sealed, hold))) return [];
    } catch (error) {
      log.warn({ err: error }, "a server's question to the client of a task can't be read");
      return [];
    }
    [this.#callId, this.#heldAt] = [id, now];
    if (sealed === this.#sealed) return [];
    this.#sealed = sealed;
    const asked = questionsIn(results.open(id, this.#admitted, sealed)).filter((each) => !this.#taken.has(each.id));
    for (const each of asked) this.#taken.add(each.id);
    return asked;
  }

  /** Its client has left. */
  async release(): Promise<void> {
    if (this.#callId === null) return;
    const { store, log } = this.#parts;
    await store.releaseAsked(this.#callId, this.#admitted.call.id).catch((error: unknown) => {
      log.warn({ err: error }, "a server's question to the client of a task can't be released");
    });
  }
}

/** The client has answered a question: it is not asked again. */
export async function removeAnswered({ store, results }: Parts, admitted: Admitted): Promise<void> {
  const { peek, session, owner } = admitted;
  const listOwner = listOwnerOf(admitted);
  const running = listOwner === null ? [] : await store.asking(listOwner);
  for (const { id, sealed: first } of running) {
    for (let sealed: string | null = first; sealed !== null; ) {
      const opened = results.open(id, admitted, sealed);
      const asked = questionsIn(opened);
      const open = asked.filter((each) => each.id !== peek.id);
      // Ids of questions are a session's own.
      if (opened?.session !== session?.key || open.length === asked.length) break;
      const { projectId } = owner;
      const left = () => results.seal(id, admitted, { ...opened, asked: open }).sealed;
      const isFirst =
        open.length === 0
          ? await store.allAnswered(id, sealed)
          : (await store.answer({ id, projectId }, sealed, left())) === "stored";
      if (isFirst) return;
      const task = await store.find(id, projectId);
      sealed = task?.state === "running" ? task.sealed : null;
    }
  }
}
