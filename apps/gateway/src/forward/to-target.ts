import type { Rest } from "../call/answer.ts";
import type { Admitted } from "../call/states.ts";
import { type ExternalParts, proxyExternal } from "../external/proxy-external.ts";
import { type PortalParts, servePortal } from "../portal/serve-portal.ts";
import { type ProxyParts, proxy } from "./proxy.ts";

export type TargetParts = ProxyParts & ExternalParts & PortalParts;

/** Forwards an admitted request to what its label leads to: one function for each kind of target. */
export function forwardToTarget(parts: TargetParts, admitted: Admitted): Promise<Rest> {
  const { target } = admitted.call.route;
  if (target.kind === "portal") return servePortal(parts, admitted, target.portalId);
  return target.kind === "external" ? proxyExternal(parts, admitted, target) : proxy(parts, admitted);
}
