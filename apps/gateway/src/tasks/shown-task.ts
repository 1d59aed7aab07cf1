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

/** As `tasks/get` of 2026-07-28 shows it: with its result, or with what is asked. */
export function modernView(results: SealedResults, admitted: Admitted, { task, taskId }: Shown): Message {
  if (task.state !== "asking") return detailedView(taskId, task, results.resultOf(task, admitted));
  const asking = askingOfTask(results, admitted, task);
  if (!asking) return detailedView(taskId, { ...task, state: "dropped" }, null);
  const inputRequests = openQuestions(asking);
  const view = viewOf("modern", taskId, task);
  // A server that only asked to be called again is.
  return Object.keys(inputRequests).length > 0 ? { ...view, inputRequests } : { ...view, status: "working" };
}
