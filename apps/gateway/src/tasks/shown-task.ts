import type { Admitted } from "../call/states.ts";
import type { SealedResults } from "../kept/sealed-results.ts";
import type { Message } from "../portal/messages-in.ts";
import type { PortalReach } from "../portal/reach.ts";
import type { StoredTask } from "../read-model/kept-tasks.ts";
import { type Asking, askingIn, openQuestions } from "./asking.ts";
import { detailedView, viewOf } from "./task-view.ts";

type Shown = { readonly task: StoredTask; readonly taskId: string };

/** Whether a task's caller may still call its tool, where it is a portal's. */
export async function isReached(
  { reach }: { readonly reach: PortalReach },
  admitted: Admitted,
  { member }: Pick<StoredTask, "member">,
): Promise<boolean> {
  return member === null || (await reach.reaches(admitted))(member);
}

/** What a task waits for; null: for nothing, or it can't be read any more. */
export function askingOfTask(results: SealedResults, admitted: Admitted, task: StoredTask): Asking | null {
  const { id, state, sealed } = task;
  return state === "asking" && sealed !== null ? askingIn(results.open(id, admitted, sealed)) : null;
}

type ModernTask = {
  /** As `tasks/get` of 2026-07-28 shows it: with its result, or with what is asked. */
  readonly view: Message;
  readonly hasResult: boolean;
  /** What its server needs to be called again, which asked for nothing but that; null: it needn't be. */
  readonly again: Asking | null;
};

/** Opens a task's result or questions once, for all that is needed of them. */
export function modernTask(results: SealedResults, admitted: Admitted, { task, taskId }: Shown): ModernTask {
  if (task.state !== "asking") {
    const result = results.resultOf(task, admitted);
    return { view: detailedView(taskId, task, result), hasResult: result !== null, again: null };
  }
  const asking = askingOfTask(results, admitted, task);
  if (!asking)
    return { view: detailedView(taskId, { ...task, state: "dropped" }, null), hasResult: false, again: null };
  const inputRequests = openQuestions(asking);
  const view = viewOf("modern", taskId, task);
  return Object.keys(inputRequests).length > 0
    ? { view: { ...view, inputRequests }, hasResult: false, again: null }
    : { view: { ...view, status: "working" }, hasResult: false, again: asking };
}
