import type { Admitted } from "../call/states.ts";
import type { TaskOfCall } from "../kept/task-of-call.ts";
import type { PortalRequest } from "../portal/portal-request.ts";
import type { NewCall } from "../read-model/kept-calls.ts";
import type { StoredTask } from "../read-model/kept-tasks.ts";
import type { TaskParts } from "./tasks.ts";

export type ServeParts = TaskParts & {
  /** Runs a task on, in the background, once `take` has made it this process's. Returns what that did. @throws GatewayError */
  readonly resume: (task: TaskOfCall, own: Admitted, take: () => Promise<boolean>) => Promise<boolean>;
  readonly taskFor: (row: NewCall, round: number) => TaskOfCall;
};

/** A question about tasks, and the task that it is about. */
export type Serving = { readonly parts: ServeParts; readonly admitted: Admitted; readonly message: PortalRequest };
export type Found = Serving & { readonly task: StoredTask; readonly taskId: string };

/** The client has the result once it has got all of the answer. */
export function whenFetched({ parts, admitted, task }: Found): void {
  const { response } = admitted.call;
  response.once("close", () => {
    if (!response.writableFinished) return;
    parts.keptCalls.store.fetched(task.id).catch((error: unknown) => {
      parts.log.warn({ err: error }, "that a task's result was fetched can't be stored");
    });
  });
}
