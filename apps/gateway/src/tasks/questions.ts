import type { Logger } from "pino";
import type { Admitted } from "../call/states.ts";
import type { SealedResults } from "../kept/sealed-results.ts";
import type { Message } from "../portal/messages-in.ts";
import type { KeptTaskStore } from "../read-model/kept-tasks.ts";
import { createRequestFinder, ofTask } from "./server-requests.ts";

type Parts = { readonly store: KeptTaskStore; readonly results: SealedResults; readonly log: Logger };
type Keep = {
  readonly callId: string;
  readonly taskId: string;
  readonly projectId: string;
  readonly admitted: Admitted;
  /** Ends the call. */
  readonly cut: (reason: string) => void;
};

/** Of one task, that no client has taken: in memory, and in its row. */
const maxQuestions = 100;
const maxBytes = 1024 * 1024;
const tooMany =
  "Its server asked its client for more than is kept: 100 questions or 1 MiB that the client had not taken.";

/** What a legacy server asks of the client of a task: kept until the client, at any gateway, asks for the task's result. */
export function keepQuestions(parts: Parts, keep: Keep): (piece: Buffer) => void {
  const { taskId, cut } = keep;
  let last: Promise<unknown> = Promise.resolve();
  let waiting: readonly Message[] = [];
  const store = async () => {
    const questions = waiting;
    waiting = [];
    if (questions.length > 0 && !(await storeQuestions(parts, keep, { questions, isFirst: false }))) cut(tooMany);
  };
  return createRequestFinder((request) => {
    waiting = [...waiting, ofTask(request, "params", taskId)];
    if (!isWithin(waiting)) {
      waiting = [];
      cut(tooMany);
    }
    last = last
      .then(store)
      .catch((error: unknown) =>
        parts.log.warn({ err: error }, "a server's question to the client of a task can't be kept"),
      );
  });
}

type Stored = { readonly questions: readonly Message[]; readonly isFirst: boolean };

/** Adds questions to those of a running task, `isFirst`: before them. False: there is no room for them. */
export async function storeQuestions(
  { store, results }: Pick<Parts, "store" | "results">,
  { callId, projectId, admitted }: Pick<Keep, "callId" | "projectId" | "admitted">,
  { questions, isFirst }: Stored,
): Promise<boolean> {
  for (;;) {
    const task = await store.find(callId, projectId);
    if (task?.state !== "running") return true;
    const { sealed } = task;
    const known = sealed === null ? [] : questionsIn(results.open(callId, admitted, sealed));
    const asked = isFirst ? [...questions, ...known] : [...known, ...questions];
    if (!isWithin(asked)) return false;
    const now = results.seal(callId, admitted, { asked }).sealed;
    // A client may have taken them meanwhile.
    const isStored = sealed === null ? store.ask(callId, projectId, now) : store.answer(callId, sealed, now);
    if (await isStored) return true;
  }
}

const isWithin = (questions: readonly Message[]): boolean =>
  questions.length <= maxQuestions && JSON.stringify(questions).length <= maxBytes;

/** The questions of a running task. */
export function questionsIn(opened: Message | null): readonly Message[] {
  return Array.isArray(opened?.asked) ? opened.asked : [];
}
