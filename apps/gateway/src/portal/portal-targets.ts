import { type CatalogItem, resolveResource } from "@towpath/mcp/portal";
import type { Admitted } from "../call/states.ts";
import type { RouteTable } from "../route/route-table.ts";
import { quotedName } from "../wire/quoted-name.ts";
import { memberRoute } from "./member-access.ts";
import type { MemberTask } from "./member-ids.ts";
import { membersOf, type PortalRequest } from "./portal-request.ts";
import type { Portal } from "./portals.ts";
import { isTaskMethod } from "./tasks.ts";

type Kind = "tools" | "resources" | "templates" | "prompts";
type Item = Pick<CatalogItem<unknown>, "projectId" | "own" | "exposed">;
/** Whether the caller may use an item of the portal. */
export type IsShown = (kind: Kind, item: Item) => boolean;

type Viewed = { readonly routes: RouteTable; readonly admitted: Admitted; readonly portal: Portal };

/** Items of servers that the caller may call, and tools that both the portal's policy and the server's admit. */
export function shownTo({ routes, admitted, portal }: Viewed): IsShown {
  const from = { principal: admitted.principal, portal };
  const found = new Map(portal.members.map((member) => [member.projectId, memberRoute(routes, member, from)]));
  const allowed = admitted.call.route.access?.tools ?? null;
  return (kind, { projectId, own, exposed }) => {
    const route = found.get(projectId);
    if (!route) return false;
    if (kind !== "tools") return true;
    return (allowed?.includes(exposed) ?? true) && (route.access?.tools?.includes(own) ?? true);
  };
}

/** The server that a request is for, and the request there. */
type Target = { readonly projectId: string; readonly params: Record<string, unknown>; readonly name: string };
type Offered = {
  readonly portal: Portal;
  readonly isShown: IsShown;
  /** The task of an id; null if the client's revision has none. */
  readonly openTask: ((id: string) => MemberTask | null) | null;
};

/** Null: the name is unknown; undefined: the method needs no server. */
export function targetOf(
  { portal, isShown, openTask }: Offered,
  { method, params }: PortalRequest,
): Target | null | undefined {
  const { catalog } = portal;
  const named = (kind: Kind, name: unknown) => {
    const items: readonly CatalogItem<unknown>[] = catalog[kind];
    const found = items.find(({ exposed }) => exposed === name) ?? unlisted(portal, kind, name);
    return found && isShown(kind, found) ? found : null;
  };
  switch (method) {
    case "tools/call":
    case "prompts/get": {
      const found = named(method === "tools/call" ? "tools" : "prompts", params.name);
      return found && { projectId: found.projectId, name: found.own, params: { ...params, name: found.own } };
    }
    case "resources/read": {
      if (typeof params.uri !== "string") return null;
      const listed = resolveResource(catalog, portal.members, params.uri);
      const found = listed ?? unlisted(portal, "resources", params.uri);
      if (!found || !isShown("resources", { ...found, exposed: "" })) return null;
      return { projectId: found.projectId, name: found.own, params: { ...params, uri: found.own } };
    }
    case "completion/complete": {
      const ref = membersOf(params.ref);
      const found = named("prompts", ref.name) ?? named("templates", ref.uri);
      const own = ref.name === undefined ? { uri: found?.own } : { name: found?.own };
      return found && { projectId: found.projectId, name: found.own, params: { ...params, ref: { ...ref, ...own } } };
    }
    case "tasks/get":
    case "tasks/update":
    case "tasks/cancel": {
      if (!openTask) return undefined;
      const task = typeof params.taskId === "string" ? openTask(params.taskId) : null;
      if (!task) return null;
      const { projectId, taskId } = task;
      // Who has lost access to a tool has lost access to its tasks, too.
      return shownTool({ portal, isShown }, task) && { projectId, name: taskId, params: { ...params, taskId } };
    }
    default:
      return undefined;
  }
}

/** A tool by its server's name for it; null: the portal doesn't offer it, or not to this caller. */
export function shownTool(
  { portal, isShown }: Pick<Offered, "portal" | "isShown">,
  { projectId, tool }: Pick<MemberTask, "projectId" | "tool">,
): Item | null {
  const listed = portal.catalog.tools.find((item) => item.projectId === projectId && item.own === tool);
  const found = listed ?? unlisted(portal, "tools", tool);
  return found?.projectId === projectId && isShown("tools", found) ? found : null;
}

/**
 * A name that isn't listed. Where a portal offers everything of one server, the server decides: its tools can change
 * while it runs, and for unknown names it answers as it would without the portal.
 */
function unlisted({ members }: Portal, kind: Kind, name: unknown): Item | undefined {
  const [only, ...more] = members;
  const chosen = only?.[kind === "templates" ? "resources" : kind];
  if (!only || more.length > 0 || chosen !== null || typeof name !== "string") return undefined;
  return { projectId: only.projectId, own: name, exposed: name };
}

/** The error for a name that doesn't exist or that the client may not use: the same for both. */
export function unknownText({ method, params }: PortalRequest): string {
  if (isTaskMethod(method)) return "Task not found in this portal.";
  const name = quotedName(String(params.name ?? params.uri ?? ""));
  const what = { "tools/call": "Tool", "resources/read": "Resource" }[method] ?? "Prompt";
  return `${what} ${name} not found in this portal.`;
}
