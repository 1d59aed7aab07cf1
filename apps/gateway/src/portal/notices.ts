import { type OpenAnswer, openAnswer } from "../call/reply.ts";
import type { Admitted } from "../call/states.ts";
import type { ObserverParts } from "../record/observe.ts";
import { firstVersionWithTasks } from "../tasks/task-era.ts";
import type { TaskNotices, TaskSubscription } from "../tasks/task-notices.ts";
import { membersOf } from "./portal-request.ts";
import type { ChangedLists, Portal, Portals } from "./portals.ts";
import { eventStream } from "./reply.ts";

/** As often as servers of the SDKs ping: proxies close connections that are silent for long. */
const pingMs = 15_000;

type Subscribed = {
  portal: Portal;
  /** The request `subscriptions/listen` of 2026-07-28; null: the stream of a legacy session. */
  subscription: { id: string | number; params: Record<string, unknown> } | null;
};

const kinds = ["tools", "resources", "prompts"] as const satisfies readonly (keyof ChangedLists)[];

export type NoticeParts = ObserverParts & { portals: Portals; taskNotices: TaskNotices };

/**
 * Holds a stream that reports changed lists of the portal, and changes of its tasks, to a client until it disconnects.
 * Other subscriptions are declined, as in 2026-07-28, by omitting them from the acknowledgement. So are tasks of servers
 * that have their own: servers of FastMCP and of the SDKs send no `notifications/tasks`.
 */
export async function holdNotices(
  parts: NoticeParts,
  admitted: Admitted,
  { portal, subscription }: Subscribed,
): Promise<"over"> {
  const { response } = admitted.call;
  const stream = openAnswer(parts, admitted, { ...eventStream, sessionId: admitted.session?.id ?? null });
  const requested = membersOf(subscription?.params.notifications);
  const isRequested = (kind: string) => subscription === null || requested[`${kind}ListChanged`] === true;
  const tasks = tasksOf(parts.taskNotices, admitted, { stream, params: subscription?.params ?? null });
  const about = subscription ? { _meta: { "io.modelcontextprotocol/subscriptionId": subscription.id } } : {};
  if (subscription) {
    const lists = Object.fromEntries(kinds.filter(isRequested).map((kind) => [`${kind}ListChanged`, true]));
    const { taskIds } = tasks;
    const params = { notifications: { ...lists, ...(taskIds.length > 0 && { taskIds }) }, ...about };
    void stream.send({ jsonrpc: "2.0", method: "notifications/subscriptions/acknowledged", params });
    // One may have ended before.
    tasks.publish();
  }
  const stop = parts.portals.onChanged(portal.portalId, (changed) => {
    for (const kind of kinds)
      if (changed[kind] && isRequested(kind))
        void stream.send({
          jsonrpc: "2.0",
          method: `notifications/${kind}/list_changed`,
          ...(subscription && { params: about }),
        });
  });
  const timer = setInterval(() => void response.write(": ping\n\n"), pingMs);
  timer.unref();
  await new Promise<void>((resolve) => {
    if (response.destroyed) resolve();
    else response.once("close", () => resolve());
  });
  clearInterval(timer);
  stop();
  tasks.stop();
  admitted.received.answer.end = "client-closed";
  return "over";
}

type Held = { readonly stream: OpenAnswer; readonly params: Readonly<Record<string, unknown>> | null };

/** `params`: of a subscription; null: the stream is a session's. */
function tasksOf(notices: TaskNotices, admitted: Admitted, { stream, params }: Held): TaskSubscription {
  const to = { admitted, send: (message: object) => void stream.send(message) };
  if (params !== null) return notices.listen(to, params);
  const knowsTasks = (admitted.session?.session.protocolVersion ?? "") >= firstVersionWithTasks;
  return { taskIds: [], publish: () => {}, stop: knowsTasks ? notices.ofSession(to) : () => {} };
}
