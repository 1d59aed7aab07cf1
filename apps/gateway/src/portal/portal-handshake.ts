import { randomUUID } from "node:crypto";
import type { Rest } from "../call/answer.ts";
import type { Admitted } from "../call/states.ts";
import { beginSession, type SessionIds, sessionNotFound } from "../policy/sessions.ts";
import { firstVersionWithTasks } from "../tasks/task-era.ts";
import { modernVersion, type PortalRequest } from "./portal-request.ts";
import type { Portal } from "./portals.ts";
import { replyWith } from "./reply.ts";
import { tasksCapability, tasksExtension } from "./tasks.ts";

const legacyVersions = ["2025-11-25", "2025-06-18", "2025-03-26"] as const;
/** Larger parameters of `initialize` would not fit into a session id. */
const maxOpeningBytes = 2000;

const offered = {
  tools: { listChanged: true },
  resources: { listChanged: true },
  prompts: { listChanged: true },
  completions: {},
};
/** A portal's capabilities, regardless of its servers': one without prompts has an empty list of them. */
export function capabilitiesOf(version: string) {
  if (version >= modernVersion) return { ...offered, extensions: { [tasksExtension]: {} } };
  return { ...offered, logging: {}, ...(version >= firstVersionWithTasks && { tasks: tasksCapability }) };
}

export const shortVersion = ({ revision }: Portal): string => String(revision);

/** Opens a session (up to 2025-11-25). Its id holds the values of `initialize`, so any gateway process can serve it. */
export function initialize(
  ids: SessionIds,
  admitted: Admitted,
  { message, portal }: { message: PortalRequest; portal: Portal },
): Rest {
  const requested = message.params.protocolVersion;
  const protocolVersion = legacyVersions.find((version) => version === requested) ?? legacyVersions[0];
  const { clientInfo, capabilities = {} } = message.params;
  const full = JSON.stringify({ protocolVersion, capabilities, clientInfo });
  const short = { protocolVersion, capabilities: {}, clientInfo: { name: "client", version: "unknown" } };
  const opening = Buffer.byteLength(full) <= maxOpeningBytes ? full : JSON.stringify(short);
  const begun = { serverId: randomUUID(), deploymentId: null, instanceId: null, opening, protocolVersion };
  const opened = beginSession(ids, admitted, begun);
  if (opened === null) throw sessionNotFound();
  const { name, instructions } = portal;
  const result = {
    protocolVersion,
    capabilities: capabilitiesOf(protocolVersion),
    serverInfo: { name, version: shortVersion(portal) },
    ...(instructions !== null && { instructions }),
  };
  return replyWith(admitted, { status: 200, opened }, { jsonrpc: "2.0", id: message.id, result });
}
