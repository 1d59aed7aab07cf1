import type { Lease } from "../forward/leases.ts";
import type { Route } from "../read-model/routes.ts";
import type { Exchange } from "../record/exchange.ts";
import { Refusal } from "../refusal.ts";
import type { Principal } from "./credentials.ts";
import { type Session, Sessions } from "./sessions.ts";

/** The legacy session that a request names. */
export type SessionClaim = { key: string; id: string; bound: Session | undefined };

export function sessionNotFound(): Refusal {
  return new Refusal("session_not_found", "Session not found: it has ended or is not yours. Initialize a new one.");
}

/**
 * The session that a request names, if the caller may use it (GW-6). Where callers are known, a session that we did
 * not see begin belongs to nobody: the client starts a new one. Where they are not, the server knows best.
 *
 * @throws Refusal 404, the same for "not yours" and "not there"
 */
export function claimSession(
  sessions: Sessions,
  id: string | undefined,
  { route, label, principal }: { route: Route; label: string; principal: Principal },
): SessionClaim | null {
  if (id === undefined) return null;
  const key = Sessions.keyOf(label, id);
  const bound = sessions.find(key);
  const isForeign = bound ? bound.principal !== principal.id : route.authMode === "towpath-cloud";
  if (isForeign) throw sessionNotFound();
  return { key, id, bound };
}

/** Binds a session when it begins, adopts one that an open server accepts, forgets one that has ended. */
export function learnSession(
  sessions: Sessions,
  answer: {
    label: string;
    exchange: Exchange;
    claim: SessionClaim | null;
    lease: Lease;
    newId: string | string[] | undefined;
  },
): void {
  const { label, exchange, claim, lease, newId } = answer;
  const { peek, principal, status } = exchange;
  // In the modern era a 404 says that the method is unknown, and there are no sessions to end.
  const hasEnded = status === 404 || (exchange.httpMethod === "DELETE" && status < 300);
  if (claim && hasEnded && peek.era === "legacy") sessions.forget(claim.key);
  if (status >= 300 || hasEnded) return;
  const begins = typeof newId === "string" && newId !== claim?.id;
  const key = begins ? Sessions.keyOf(label, newId) : claim && !claim.bound ? claim.key : null;
  if (key === null) return;
  const bound: Session = {
    principal,
    deploymentId: lease.deploymentId,
    instanceId: lease.instanceId,
    clientName: peek.clientName,
    clientVersion: peek.clientVersion,
    protocolVersion: peek.protocolVersion,
  };
  sessions.bind(key, bound);
  exchange.session = key;
  exchange.client = bound;
}
