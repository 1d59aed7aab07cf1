import { type CatalogItem, resolveResource } from "@towpath/mcp/portal";
import type { AdmittedRequest } from "../forward/admitted-request.ts";
import type { RouteTable } from "../route/route-table.ts";
import { memberRoute } from "./member-access.ts";
import type { PortalRequest } from "./portal-request.ts";
import type { Portal } from "./portals.ts";

type Kind = "tools" | "resources" | "templates" | "prompts";
/** Whether the caller may use an item of the portal. */
export type IsShown = (kind: Kind, item: Pick<CatalogItem<unknown>, "projectId" | "own" | "exposed">) => boolean;

type Viewed = { readonly routes: RouteTable; readonly admitted: AdmittedRequest; readonly portal: Portal };

/** Items of servers that the caller may call, and tools that neither the portal's policy nor the server's leaves out. */
export function shownTo({ routes, admitted, portal }: Viewed): IsShown {
  const from = { principal: admitted.principal, portal };
  const found = new Map(portal.members.map((member) => [member.projectId, memberRoute(routes, member, from)]));
  const allowed = admitted.exchange.route.access?.tools ?? null;
  return (kind, { projectId, own, exposed }) => {
    const route = found.get(projectId);
    if (!route) return false;
    if (kind !== "tools") return true;
    return (allowed?.includes(exposed) ?? true) && (route.access?.tools?.includes(own) ?? true);
  };
}

/** Which server a request is for, and what it asks there. */
type Target = { readonly projectId: string; readonly params: Record<string, unknown>; readonly name: string };
type Offered = { readonly portal: Portal; readonly isShown: IsShown };

/** Null: there is nothing of that name; undefined: no server is asked by this method. */
export function targetOf({ portal, isShown }: Offered, { method, params }: PortalRequest): Target | null | undefined {
  const { catalog } = portal;
  const named = (kind: Kind, name: unknown) => {
    const items: readonly CatalogItem<unknown>[] = catalog[kind];
    const found = items.find(({ exposed }) => exposed === name);
    return found && isShown(kind, found) ? found : null;
  };
  switch (method) {
    case "tools/call":
    case "prompts/get": {
      const found = named(method === "tools/call" ? "tools" : "prompts", params.name);
      return found && { projectId: found.projectId, name: found.own, params: { ...params, name: found.own } };
    }
    case "resources/read": {
      const found = typeof params.uri === "string" ? resolveResource(catalog, portal.members, params.uri) : null;
      if (!found || !isShown("resources", { ...found, exposed: "" })) return null;
      return { projectId: found.projectId, name: found.own, params: { ...params, uri: found.own } };
    }
    case "completion/complete": {
      const ref = (params.ref ?? {}) as { name?: unknown; uri?: unknown };
      const found = named("prompts", ref.name) ?? named("templates", ref.uri);
      const own = ref.name === undefined ? { uri: found?.own } : { name: found?.own };
      return found && { projectId: found.projectId, name: found.own, params: { ...params, ref: { ...ref, ...own } } };
    }
    default:
      return undefined;
  }
}

/** What a client is told of a name that it got nowhere, or may not use: the same for both. */
export function unknownText({ method, params }: PortalRequest): string {
  const name = JSON.stringify(String(params.name ?? params.uri ?? "").slice(0, 100));
  const what = { "tools/call": "Tool", "resources/read": "Resource" }[method] ?? "Prompt";
  return `${what} ${name} not found in this portal.`;
}
