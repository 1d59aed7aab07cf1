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
};

/** What a legacy server asks of the client of a task: kept until the client, at any gateway, asks for the task's result. */
export function keepQuestions({ store, results, log }: Parts, keep: Keep): (piece: Buffer) => void {
  const { callId, taskId, projectId, admitted } = keep;
  let last: Promise<unknown> = Promise.resolve();
  const ask = async (question: Message) => {
    for (;;) {
      const task = await store.find(callId, projectId);
      if (task?.state !== "running") return;
      const { sealed } = task;
      const asked = sealed === null ? [] : questionsIn(results.open(callId, admitted, sealed));
      const now = results.seal(callId, admitted, { asked: [...asked, question] }).sealed;
      if (sealed === null) return store.ask(callId, projectId, now);
      // A client may have taken them meanwhile.
      if (await store.answer(callId, sealed, now)) return;
    }
  };
  return createRequestFinder((request) => {
    last = last
      .then(() => ask(ofTask(request, "params", taskId)))
      .catch((error: unknown) => log.warn({ err: error }, "a server's question to the client of a task can't be kept"));
  });
}

/** The questions of a running task. */
export function questionsIn(opened: Message | null): readonly Message[] {
  return Array.isArray(opened?.asked) ? opened.asked : [];
}
