import { setTimeout as sleep } from "node:timers/promises";
import { authorizeProject, type Permission } from "@towpath/core/authorize";
import { requestLogChannel } from "@towpath/logs";
import { services } from "~/compose.server.ts";
import { eventStream, type Send, wakeable } from "./event-stream.server.ts";
import { streamReader } from "./stream-reader.server.ts";

/** A page asks for the rows again at each event, so this is how often at most. */
const pauseMs = 1000;
const heartbeatMs = 60_000;

/**
 * GET /api/projects/{orgSlug}/{projectName}/request-log-changes: a `changed` event when the project's request log has
 * rows that it did not have at the event before, and one at the beginning.
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
  return eventStream(request, reader, (send, signal) => follow(projectId, send, signal));
}

async function follow(projectId: string, send: Send, signal: AbortSignal): Promise<void> {
  const waiting = wakeable(signal);
  const stop = services().notifications.subscribe({ channel: requestLogChannel, payload: projectId }, waiting.wake);
  try {
    await send({ event: "changed", data: {} });
    while (!signal.aborted) {
      if (!(await waiting.wait(heartbeatMs)) || signal.aborted) continue;
      await send({ event: "changed", data: {} });
      await sleep(pauseMs, undefined, { signal }).catch(() => {});
    }
  } finally {
    stop();
  }
}
