import type { Admitted } from "../call/states.ts";
import { isKeeping } from "../kept/identity.ts";
import { tasksExtension } from "../portal/tasks.ts";

/** legacy: tasks of 2025-11-25, for which a client asks; modern: the extension of 2026-07-28, where the server decides. */
export type TaskEra = "legacy" | "modern";

export const firstVersionWithTasks = "2025-11-25";

const methods: Readonly<Record<TaskEra, ReadonlySet<string>>> = {
  legacy: new Set([
    "initialize",
    "tools/list",
    "tools/call",
    "tasks/get",
    "tasks/result",
    "tasks/list",
    "tasks/cancel",
  ]),
  modern: new Set(["server/discover", "tools/call", "tasks/get", "tasks/update", "tasks/cancel"]),
};

/** The era whose tasks may matter to a request; null: it is none of ours. Most calls end here, with one look at their bytes. */
export function taskEraOf(admitted: Admitted): TaskEra | null {
  const { peek, session, body } = admitted;
  const { method, era } = peek;
  if (method === null || peek.kind !== "request" || peek.id === null || !methods[era].has(method)) return null;
  if (!isKeeping(admitted) || serverIdOf(admitted) === null) return null;
  if (era === "modern") return method.startsWith("tasks/") || body.includes(tasksExtension) ? era : null;
  const version = peek.protocolVersion ?? session?.session.protocolVersion ?? "";
  if (version < firstVersionWithTasks || (method !== "initialize" && session === null)) return null;
  return method !== "tools/call" || body.includes('"task"') ? era : null;
}

/** The era of a stream on which its client may learn of tasks; null: the request is for no such stream. */
export function streamEraOf(admitted: Admitted): TaskEra | null {
  const { peek, received, session, body } = admitted;
  const isListening = peek.method === "subscriptions/listen" && peek.era === "modern";
  if (!isListening && received.method !== "GET") return null;
  if (!isKeeping(admitted) || serverIdOf(admitted) === null) return null;
  if (isListening) return body.includes('"taskIds"') ? "modern" : null;
  return (session?.session.protocolVersion ?? "") >= firstVersionWithTasks ? "legacy" : null;
}

/** Whether a message answers what a server has asked its client, which may be a task's question of 2025-11-25. */
export function mayAnswerTask(admitted: Admitted): boolean {
  const { peek, session } = admitted;
  if (session === null || peek.kind !== "response" || peek.id === null || peek.era !== "legacy") return false;
  return isKeeping(admitted) && (session.session.protocolVersion ?? "") >= firstVersionWithTasks;
}

/** What offers tasks, or doesn't: a deployment, an external server or a portal. */
export function serverIdOf({ call, deploymentId }: Admitted): string | null {
  const { target } = call.route;
  if (target.kind === "portal") return target.portalId;
  return target.kind === "external" ? target.externalServerId : deploymentId;
}
