import { setTimeout as sleep } from "node:timers/promises";
import { authorizeProject, type Permission } from "@towpath/core/authorize";
import type { Context } from "@towpath/core/context";
import { authorizeBuild, getBuild, isEnded } from "@towpath/core/delivery/build";
import type { BuildStatus } from "@towpath/core/delivery/build/contract";
import { authorizeDeployment } from "@towpath/core/delivery/deployment";
import {
  buildLogChannel,
  hasRowsSince,
  readBuildLog,
  readServerLogs,
  requestLogChannel,
  serverLogChannel,
} from "@towpath/logs";
import { services } from "~/compose.server.ts";
import { eventStream, lastEventId, numberParameter, type Send, wakeable } from "~/http/streams/event-stream.server.ts";
import { streamReader } from "~/http/streams/stream-reader.server.ts";
import { readRequestLogs } from "./log-reader.server.ts";

// Each stream waits for a PostgreSQL notification and then reads new rows. It also polls, because a notification can
// get lost while the listening connection reconnects.

const buildPollMs = 5000;
const serverPollMs = 10_000;
const pageSize = 1000;

/** The database notifies this channel whenever a build's status changes. The payload is the build's id. */
const buildChannel = "towpath_build";
/** How long to wait for lines that were still being written when the build ended. */
const lastLinesMs = 250;

/** GET /api/builds/{buildId}/log: `line` for each line, `status` when it changes, `end` when nothing more will come. */
export async function buildLogStream(buildId: string, permission: Permission, request: Request): Promise<Response> {
  const reader = await streamReader(request, (ctx) => authorizeBuild(ctx, permission, buildId));
  return eventStream(request, reader, (send, signal) =>
    followBuild(reader.ctx, buildId, lastEventId(request), send, signal),
  );
}

async function followBuild(
  ctx: Context,
  buildId: string,
  from: number,
  send: Send,
  signal: AbortSignal,
): Promise<void> {
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
      line = await sendBuildLines(buildId, line, send, signal);
      if (status !== null && status !== shown) await send({ event: "status", data: { status } });
      shown = status;
      if (status !== null && isEnded(status)) {
        await sleep(lastLinesMs);
        await sendBuildLines(buildId, line, send, signal);
        await send({ event: "end", data: {} });
        return;
      }
      const woken = await waiting.wait(buildPollMs);
      statusDue ||= !woken;
    }
  } finally {
    stopLines();
    stopStatus();
  }
}

async function sendBuildLines(buildId: string, after: number, send: Send, signal: AbortSignal): Promise<number> {
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

/**
 * GET /api/deployments/{deploymentId}/log: the newest lines, or with `?around={id}` those around a line and all after it,
 * then new lines, as `line` events. It never ends.
 */
export async function serverLogStream(
  deploymentId: string,
  permission: Permission,
  request: Request,
): Promise<Response> {
  const reader = await streamReader(request, (ctx) => authorizeDeployment(ctx, permission, deploymentId));
  const from = { after: lastEventId(request), around: numberParameter(request, "around") };
  return eventStream(request, reader, (send, signal) => followServer(deploymentId, from, send, signal));
}

type ServerLogStart = { readonly after: number; readonly around: number };

async function followServer(
  deploymentId: string,
  { after, around }: ServerLogStart,
  send: Send,
  signal: AbortSignal,
): Promise<void> {
  const { database, notifications } = services();
  const waiting = wakeable(signal);
  const stop = notifications.subscribe({ channel: serverLogChannel, payload: deploymentId }, waiting.wake);
  let last = after;
  const start = around === 0 ? {} : { around };
  try {
    while (!signal.aborted) {
      const place = last === 0 ? start : { afterId: last };
      const lines = await readServerLogs(database.pool, { deploymentId, limit: pageSize, ...place });
      for (const entry of lines) {
        if (signal.aborted) return;
        await send({ event: "line", data: entry, id: entry.id });
      }
      // The first query returns the newest page; a full page of any later query may have a successor.
      const mayHaveMore = (last !== 0 || around !== 0) && lines.length === pageSize;
      last = lines.at(-1)?.id ?? last;
      if (!mayHaveMore) await waiting.wait(serverPollMs);
    }
  } finally {
    stop();
  }
}

/** Pages refetch their rows at each `changed` event, so this is the shortest interval between two. */
const changedPauseMs = 1000;
const changedWaitMs = 60_000;
/** A row is written after its call, which it has the time of. */
const lateMs = 30_000;

/**
 * GET /api/projects/{orgSlug}/{projectName}/request-log-changes: a `changed` event whenever the project's request log has
 * new rows. The first one comes when it opens; with `?age=`, of what the page shows in milliseconds, only if the log may
 * have rows that are newer.
 */
export async function requestLogStream(
  project: { orgSlug: string; projectName: string },
  permission: Permission,
  request: Request,
): Promise<Response> {
  let projectId = "";
  const reader = await streamReader(request, async (ctx) => {
    projectId = (await authorizeProject(ctx, permission, project)).project.id;
  });
  const age = numberParameter(request, "age");
  const seen = age === 0 ? 0 : Date.now() - age;
  return eventStream(request, reader, (send, signal) => followRequestLog(projectId, seen, send, signal));
}

/** `seen`: until when the page knows the log. */
async function followRequestLog(projectId: string, seen: number, send: Send, signal: AbortSignal): Promise<void> {
  const waiting = wakeable(signal);
  let isNamed = false;
  // Without a payload, notifications may have been missed.
  const stop = services().notifications.subscribe({ channel: requestLogChannel, payload: projectId }, (payload) => {
    isNamed ||= payload !== undefined;
    waiting.wake();
  });
  let since = seen - lateMs;
  waiting.wake();
  try {
    while (!signal.aborted) {
      if (!(await waiting.wait(changedWaitMs)) || signal.aborted) continue;
      const isNew = isNamed || since < 0;
      isNamed = false;
      const now = Date.now();
      if (!isNew && !(await readRequestLogs((log) => hasRowsSince(log, projectId, new Date(since))))) continue;
      since = now - lateMs;
      await send({ event: "changed", data: {} });
      await sleep(changedPauseMs, undefined, { signal }).catch(() => {});
    }
  } finally {
    stop();
  }
}
