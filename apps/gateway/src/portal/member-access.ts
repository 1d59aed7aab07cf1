import { admits } from "@towpath/auth/workloads";
import { listedIdOf, mayCall } from "../policy/access.ts";
import type { Principal } from "../policy/credentials.ts";
import type { StoredMember, StoredPortal } from "../read-model/portals.ts";
import type { Route } from "../read-model/routes.ts";
import type { RouteTable } from "../route/route-table.ts";

type From = { readonly principal: Principal; readonly portal: Pick<StoredPortal, "organizationId"> };

/**
 * The route of a portal's server if the caller could use the server directly; null if not. Members, keys and workloads must belong
 * to the server's organization and be admitted by its own policy; a key that is bound to projects, to this one too. A
 * portal gives nobody more access than they have without it.
 */
export function memberRoute(routes: RouteTable, member: StoredMember, { principal, portal }: From): Route | null {
  const route = routes.find(member.label);
  if (!route || route.projectId !== member.projectId || route.organizationId !== portal.organizationId) return null;
  // A nested portal could lead back to itself.
  if (route.target.kind === "portal") return null;
  if (route.authMode === "towpath-public") return route;
  // A server that authenticates its callers itself would need credentials that were issued for the portal.
  if (route.authMode === "passthrough" || principal.actor === null) return null;
  const { credential } = principal;
  const { member: person, organizationId, type } = principal.actor;
  if (organizationId !== route.organizationId || type === "admin") return null;
  const key = credential?.kind === "api-key" ? credential.key : null;
  if (key?.projectIds && !key.projectIds.includes(route.projectId)) return null;
  if (credential?.kind === "workload" && !admits(credential.identity, { ...credential, projectId: route.projectId }))
    return null;
  const caller = { role: person?.role ?? null, keyId: listedIdOf(credential) };
  return mayCall(route.access, caller) ? route : null;
}
