import { sha256 } from "@towpath/crypto";
import { peekRequest } from "@towpath/mcp/peek";
import { z } from "zod";
import type { Admitted } from "../call/states.ts";
import { withSessionId } from "../forward/headers.ts";
import { GatewayError } from "../gateway-error.ts";
import { createSignedIds } from "./signed-ids.ts";

/** Content of our legacy session ids: the server's own id, and the process that holds the session. */
export type Session = {
  /** The server's id; ours if the session was opened while the server was asleep. */
  serverId: string;
  /** Null for a session at an external server. */
  deploymentId: string | null;
  /**
   * The process, or the address of an external server (`endpointOf`). Null if the session was opened while the server
   * was asleep: the process that gets its first request will hold it.
   */
  instanceId: string | null;
  /** JSON of the parameters of an `initialize` that was answered for the server (GW-12); null for other sessions. */
  opening: string | null;
  /** From `initialize`, for the request log. */
  clientName: string | null;
  clientVersion: string | null;
  protocolVersion: string | null;
};

/** Where an id is valid: at one label of one project, for one principal. */
export type SessionOwner = { projectId: string; label: string; principal: string };

/** The owner in the form that signed ids are bound to. */
export const ownerOf = ({ projectId, label, principal }: SessionOwner): string[] => [projectId, label, principal];

export type SessionIds = {
  /**
   * The id that clients see for a server's session: printable ASCII, at most 4 KiB. Null if it would be longer, or if
   * the server's id has more than `maxServerIdLength` characters.
   */
  seal: (session: Session, owner: SessionOwner) => string | null;
  /** The session of an id. Null unless we issued it to this owner. */
  open: (id: string, owner: SessionOwner) => Session | null;
};

const maxServerIdLength = 2048;
const maxIdLength = 4096;
const maxClientTextLength = 64;
/** `p1`: opened while the server was asleep; `x1`: at an external server; `m1`: at a portal. */
const versions = ["s1", "p1", "x1", "m1"] as const;
type Version = (typeof versions)[number];

/** The server's id, deployment (empty: none), process or endpoint, and three values from `initialize`. */
const payloadSchema = z.tuple([
  z.string(),
  z.string(),
  z.string(),
  z.string().nullable(),
  z.string().nullable(),
  z.string().nullable(),
]);
/** Our id, deployment, agreed revision, and the parameters of `initialize`. */
const openedAsleepSchema = z.tuple([z.string(), z.string(), z.string(), z.string()]);

/**
 * Creates and checks the session ids that clients see (GW-6). They hold all that a gateway needs, under a MAC, so any
 * gateway with the same secret serves any session, and none keeps a list. The MAC also covers the owner, so an id is
 * worthless at another server and to another principal. Ids from before the secret was replaced are valid as long as it
 * is among the previous ones.
 */
export function createSessionIds(secret: string, previousSecrets: readonly string[] = []): SessionIds {
  const ids = createSignedIds({
    ...({ purpose: "mcp-session", kinds: versions, maxLength: maxIdLength } as const),
    secret,
    previousSecrets,
  });

  return {
    seal(session, owner) {
      if (session.serverId.length > maxServerIdLength) return null;
      return ids.seal(versionOf(session), contentOf(session), ownerOf(owner));
    },
    open(id, owner) {
      const opened = ids.open(id, ownerOf(owner));
      return opened && sessionIn(opened.kind, opened.content);
    },
  };
}

function versionOf({ instanceId, deploymentId }: Session): Version {
  if (instanceId === null) return deploymentId === null ? "m1" : "p1";
  return deploymentId === null ? "x1" : "s1";
}

function contentOf(session: Session): unknown[] {
  const { serverId, deploymentId, instanceId, opening, clientName, clientVersion, protocolVersion } = session;
  if (instanceId === null) return [serverId, deploymentId ?? "", protocolVersion, opening];
  return [
    serverId,
    deploymentId ?? "",
    instanceId,
    shortened(clientName),
    shortened(clientVersion),
    shortened(protocolVersion),
  ];
}

function sessionIn(version: Version, content: unknown): Session | null {
  if (version === "s1" || version === "x1") {
    const parsed = payloadSchema.safeParse(content);
    if (!parsed.success) return null;
    const [serverId, deployment, instanceId, clientName, clientVersion, protocolVersion] = parsed.data;
    const deploymentId = version === "x1" ? null : deployment;
    return { serverId, deploymentId, instanceId, opening: null, clientName, clientVersion, protocolVersion };
  }
  const parsed = openedAsleepSchema.safeParse(content);
  if (!parsed.success) return null;
  const [serverId, deployment, protocolVersion, opening] = parsed.data;
  const deploymentId = version === "m1" ? null : deployment;
  const { clientName, clientVersion } = peekRequest(Buffer.from(`{"method":"initialize","params":${opening}}`));
  return { serverId, deploymentId, instanceId: null, opening, clientName, clientVersion, protocolVersion };
}

/** Identifies the session in the request log: the same for all of its requests, and useless as an id. */
function sessionKeyOf({ instanceId, serverId }: Session): string {
  return sha256(`${instanceId ?? ""}\n${serverId}`).slice(0, 22);
}

function shortened(text: string | null): string | null {
  return text === null ? null : text.slice(0, maxClientTextLength).toWellFormed();
}

/** `key`: what identifies the session in the log. */
export type OpenedSession = { readonly session: Session; readonly key: string };
/** The legacy session that a request names, with a valid id. */
export type SessionClaim = OpenedSession & { readonly id: string };

export function sessionNotFound(): GatewayError {
  return new GatewayError(
    "session_not_found",
    "Session not found: it has ended or is not yours. Initialize a new one.",
  );
}

/**
 * The session that a request names (GW-6). An id that we did not give out, or gave to another principal or at another
 * server, is never forwarded, regardless of the server's authentication: only the server chooses session ids.
 *
 * @throws GatewayError 404, the same for "not yours" and "not there"
 */
export function claimSession(ids: SessionIds, id: string | undefined, owner: SessionOwner): SessionClaim | null {
  if (id === undefined) return null;
  const session = ids.open(id, owner);
  if (!session) throw sessionNotFound();
  return { id, session, key: sessionKeyOf(session) };
}

/** Carries the parameters of an `initialize` that was answered for the server to the harness: base64url of JSON. */
const openingHeader = "towpath-initialize";

/** A request's headers for its session's server. */
export function headersOfSession(headers: readonly string[], { serverId, opening }: Session): string[] {
  const own = withSessionId(headers, serverId);
  if (opening !== null) own.push(openingHeader, Buffer.from(opening).toString("base64url"));
  return own;
}

/** Who holds a session: a deployment's process, or an external server's endpoint. */
export type SessionHolder = { readonly deploymentId: string | null; readonly instanceId: string };

/**
 * Begins a session with the client of a call, and records it. Returns the client's id; null if it would be too long.
 */
export function beginSession(
  ids: SessionIds,
  { peek, owner, received }: Admitted,
  begun: Omit<Session, "clientName" | "clientVersion">,
): string | null {
  const session = { ...begun, clientName: peek.clientName, clientVersion: peek.clientVersion };
  const id = ids.seal(session, owner);
  if (id !== null) received.answer.opened = { session, key: sessionKeyOf(session) };
  return id;
}

/** The id for the client in place of the one in the server's answer; null if that has none, or one too long. */
export function idForClient(
  ids: SessionIds,
  admitted: Admitted,
  { holder, given }: { holder: SessionHolder; given: string | string[] | undefined },
): string | null {
  const { session: claim, peek } = admitted;
  // If the header is repeated, the first one counts: a client would accept neither.
  const serverId = Array.isArray(given) ? given[0] : given;
  if (serverId === undefined) return null;
  if (serverId === claim?.session.serverId) return claim.id;
  const { deploymentId, instanceId } = holder;
  const { protocolVersion } = peek;
  return beginSession(ids, admitted, { serverId, deploymentId, instanceId, opening: null, protocolVersion });
}
