import type { Context } from "@towpath/core/context";
import { getDeployment } from "@towpath/core/deployment";
import { readServerLogs, serverLogChannel } from "@towpath/logs";
import { services } from "~/compose.server.ts";
import { eventStream, lastEventId, type Send } from "./event-stream.server.ts";
import { wakeable } from "./wait.server.ts";

/** Notifications come for every batch of lines; this is for one that got lost. */
const lookEveryMs = 10_000;
const pageSize = 1000;

/** GET /api/deployments/{deploymentId}/log: the newest lines, then every new one, as `line` events without an end. */
export async function serverLogStream(ctx: Context, deploymentId: string, request: Request): Promise<Response> {
  await getDeployment({ ctx, input: { deploymentId } });
  return eventStream(request, (send, signal) => follow(ctx, deploymentId, lastEventId(request), send, signal));
}

async function follow(
  ctx: Context,
  deploymentId: string,
  from: number,
  send: Send,
  signal: AbortSignal,
): Promise<void> {
  const { database, notifications } = services();
  const waiting = wakeable(signal);
  const stop = notifications.subscribe(serverLogChannel, deploymentId, waiting.wake);
  let last = from;
  try {
    while (!signal.aborted) {
      const query = last === 0 ? { deploymentId, limit: pageSize } : { deploymentId, afterId: last, limit: pageSize };
      const lines = await readServerLogs(database.pool, query);
      for (const entry of lines) send({ event: "line", data: entry, id: entry.id });
      last = lines.at(-1)?.id ?? last;
      if (lines.length === pageSize && from !== 0) continue;
      await waiting.wait(lookEveryMs);
      // Somebody who has lost access in the meantime reads no further.
      await getDeployment({ ctx, input: { deploymentId } });
    }
  } finally {
    stop();
  }
}
