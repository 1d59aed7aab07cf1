import { setTimeout as sleep } from "node:timers/promises";
import type { Permission } from "@towpath/core/authorize";
import { authorizeBuild, getBuild, isEnded } from "@towpath/core/build";
import type { BuildStatus } from "@towpath/core/build/contract";
import type { Context } from "@towpath/core/context";
import { buildLogChannel, readBuildLog } from "@towpath/logs";
import { services } from "~/compose.server.ts";
import { eventStream, lastEventId, type Send, wakeable } from "./event-stream.server.ts";
import { streamReader } from "./stream-reader.server.ts";

/** Notified by the database whenever a build's status changes; the payload is the build's id. */
const buildChannel = "towpath_build";
/** Notifications say what changed; this is for one that got lost. */
const lookEveryMs = 5000;
/** Lines that were on their way while the status changed. */
const lastLinesMs = 250;
const pageSize = 1000;

/** GET /api/builds/{buildId}/log: `line` for each line, `status` when it changes, `end` when nothing more will come. */
export async function buildLogStream(buildId: string, permission: Permission, request: Request): Promise<Response> {
  const reader = await streamReader(request, (ctx) => authorizeBuild(ctx, permission, buildId));
  return eventStream(request, reader, (send, signal) =>
    follow(reader.ctx, buildId, lastEventId(request), send, signal),
  );
}

async function follow(ctx: Context, buildId: string, from: number, send: Send, signal: AbortSignal): Promise<void> {
  const { notifications } = services();
  const waiting = wakeable(signal);
  let statusDue = true;
  const stopLines = notifications.subscribe({ channel: buildLogChannel, payload: buildId }, waiting.wake);
  const stopStatus = notifications.subscribe({ channel: buildChannel, payload: buildId }, () => {
    statusDue = true;
    waiting.wake();
  });
  let line = from;
  let shown: BuildStatus | null = null;
  try {
    while (!signal.aborted) {
      // Status before lines: a build that has ended by now has written its lines.
      let status: BuildStatus | null = shown;
      if (statusDue) {
        statusDue = false;
        status = (await getBuild({ ctx, input: { buildId } })).status;
      }
      line = await sendLines(buildId, line, send, signal);
      if (status !== null && status !== shown) await send({ event: "status", data: { status } });
      shown = status;
      if (status !== null && isEnded(status)) {
        await sleep(lastLinesMs);
        await sendLines(buildId, line, send, signal);
        await send({ event: "end", data: {} });
        return;
      }
      const woken = await waiting.wait(lookEveryMs);
      statusDue ||= !woken;
    }
  } finally {
    stopLines();
    stopStatus();
  }
}

async function sendLines(buildId: string, after: number, send: Send, signal: AbortSignal): Promise<number> {
  let last = after;
  for (;;) {
    const lines = await readBuildLog(services().database.pool, { buildId, afterLine: last, limit: pageSize });
    for (const entry of lines) {
      if (signal.aborted) return last;
      await send({ event: "line", data: entry, id: entry.line });
    }
    last = lines.at(-1)?.line ?? last;
    if (lines.length < pageSize) return last;
  }
}
