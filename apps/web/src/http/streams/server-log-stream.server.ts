import type { Permission } from "@towpath/core/authorize";
import { authorizeDeployment } from "@towpath/core/deployment";
import { readServerLogs, serverLogChannel } from "@towpath/logs";
import { services } from "~/compose.server.ts";
import { eventStream, lastEventId, type Send, wakeable } from "./event-stream.server.ts";
import { streamReader } from "./stream-reader.server.ts";

/** Polling interval, in case a notification got lost. */
const lookEveryMs = 10_000;
const pageSize = 1000;

/** GET /api/deployments/{deploymentId}/log: the newest lines, then every new one, as `line` events without an end. */
export async function serverLogStream(
  deploymentId: string,
  permission: Permission,
  request: Request,
): Promise<Response> {
  const reader = await streamReader(request, (ctx) => authorizeDeployment(ctx, permission, deploymentId));
  return eventStream(request, reader, (send, signal) => follow(deploymentId, lastEventId(request), send, signal));
}

async function follow(deploymentId: string, from: number, send: Send, signal: AbortSignal): Promise<void> {
  const { database, notifications } = services();
  const waiting = wakeable(signal);
  const stop = notifications.subscribe({ channel: serverLogChannel, payload: deploymentId }, waiting.wake);
  let last = from;
  try {
    while (!signal.aborted) {
      const query = last === 0 ? { deploymentId, limit: pageSize } : { deploymentId, afterId: last, limit: pageSize };
      const lines = await readServerLogs(database.pool, query);
      for (const entry of lines) {
        if (signal.aborted) return;
        await send({ event: "line", data: entry, id: entry.id });
      }
      // The newest page is followed by nothing; any later one may be.
      const mayHaveMore = last !== 0 && lines.length === pageSize;
      last = lines.at(-1)?.id ?? last;
      if (!mayHaveMore) await waiting.wait(lookEveryMs);
    }
  } finally {
    stop();
  }
}
