import type { AdmittedRequest } from "../forward/admitted-request.ts";
import type { Recorder } from "../record/recorder.ts";
import type { ChangedLists, Portal, Portals } from "./portals.ts";
import { eventStream, openAnswer } from "./reply.ts";

/** As often as servers of the SDKs write: proxies in between close connections that are silent for long. */
const pingMs = 15_000;

type Subscribed = {
  portal: Portal;
  /** The request `subscriptions/listen` of 2026-07-28; null: the stream of a legacy session. */
  subscription: { id: string | number; params: Record<string, unknown> } | null;
};

const kinds = ["tools", "resources", "prompts"] as const satisfies readonly (keyof ChangedLists)[];

/**
 * Holds a stream on which a client hears that lists of the portal have changed, until it disconnects. What else it asks for
 * is declined, as 2026-07-28 has it, by leaving it out of the acknowledgement. So are `taskIds`: servers of FastMCP and of
 * the Python and TypeScript SDKs send no `notifications/tasks`, and clients read tasks by `tasks/get`.
 */
export async function holdNotices(
  { portals, recorder }: { portals: Portals; recorder: Recorder },
  admitted: AdmittedRequest,
  { portal, subscription }: Subscribed,
): Promise<void> {
  const { response, exchange } = admitted;
  const stream = openAnswer(admitted, recorder, eventStream);
  const wanted = (subscription?.params.notifications ?? {}) as Record<string, unknown>;
  const isWanted = (kind: string) => subscription === null || wanted[`${kind}ListChanged`] === true;
  const about = subscription ? { _meta: { "io.modelcontextprotocol/subscriptionId": subscription.id } } : {};
  if (subscription) {
    const notifications = Object.fromEntries(kinds.filter(isWanted).map((kind) => [`${kind}ListChanged`, true]));
    const params = { notifications, ...about };
    void stream.send({ jsonrpc: "2.0", method: "notifications/subscriptions/acknowledged", params });
  }
  const stop = portals.onChanged(portal.portalId, (changed) => {
    for (const kind of kinds)
      if (changed[kind] && isWanted(kind))
        void stream.send({
          ...{ jsonrpc: "2.0", method: `notifications/${kind}/list_changed` },
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
  exchange.end = "client-closed";
}
