import type { Lease } from "../forward/leases.ts";
import type { Exchange } from "../record/exchange.ts";
import { Refusal } from "../refusal.ts";
import { type Session, type SessionIds, type SessionOwner, sessionKeyOf } from "./session-ids.ts";

/** The legacy session that a request names, by an id of ours that its caller may use. */
export type SessionClaim = { id: string; session: Session; key: string };

export function sessionNotFound(): Refusal {
  return new Refusal("session_not_found", "Session not found: it has ended or is not yours. Initialize a new one.");
}

/**
 * The session that a request names (GW-6). An id that we did not give out, or gave to another principal or at another
 * server, is never passed on, whatever the server's authentication: nobody chooses a session id but the server.
 *
 * @throws Refusal 404, the same for "not yours" and "not there"
 */
export function claimSession(ids: SessionIds, id: string | undefined, owner: SessionOwner): SessionClaim | null {
  if (id === undefined) return null;
  const session = ids.open(id, owner);
  if (!session) throw sessionNotFound();
  return { id, session, key: sessionKeyOf(session) };
}

/**
 * The id that the client is to see for the one in the server's answer; null when the server gave none, or one that is
 * too long. Notes a session that begins in its exchange.
 */
export function idForClient(
  ids: SessionIds,
  answer: {
    owner: SessionOwner;
    exchange: Exchange;
    claim: SessionClaim | null;
    lease: Lease;
    serverId: string | string[] | undefined;
  },
): string | null {
  const { owner, exchange, claim, lease } = answer;
  // Given twice, the first one counts: two would be none to a client.
  const serverId = Array.isArray(answer.serverId) ? answer.serverId[0] : answer.serverId;
  if (serverId === undefined) return null;
  if (serverId === claim?.session.serverId) return claim.id;
  const { clientName, clientVersion, protocolVersion } = exchange.peek;
  const { deploymentId, instanceId } = lease;
  const session = { serverId, deploymentId, instanceId, clientName, clientVersion, protocolVersion };
  const id = ids.seal(session, owner);
  if (id !== null) {
    exchange.session = sessionKeyOf(session);
    exchange.client = session;
  }
  return id;
}
