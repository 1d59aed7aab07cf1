import { sha256 } from "@towpath/crypto";
import { parseExactly } from "@towpath/mcp/peek";
import type { Admitted } from "../call/states.ts";
import { headerOf } from "../forward/headers.ts";
import { GatewayError } from "../gateway-error.ts";
import { anonymous } from "../policy/credentials.ts";
import type { HashArguments } from "./arguments-hash.ts";

/** Chosen by clients for one call each (draft-ietf-httpapi-idempotency-key-header). */
const keyHeader = "idempotency-key";
const maxKeyLength = 255;
/** Others would be odd in a notification of PostgreSQL. */
const idPattern = /^[\x20-\x7e]{1,128}$/;

/**
 * What tells whether two requests are the same call (decision 087).
 *
 * - `key`: the client says so, by an `Idempotency-Key`. Claimed before the call is sent.
 * - `task`: nothing does: the client gets an id for its task, by which it asks.
 * - `repeat`: the request has the id of an earlier one of its session, which is still unanswered: ids must not be used
 *   twice in a session. Claimed once the call lasts, or its client is gone.
 */
export type Identity = {
  readonly kind: "key" | "task" | "repeat";
  /** The claim, and the hash of tool and arguments. */
  hashes: () => { readonly claim: string; readonly argumentsHash: string };
  /** Session and request id; null for the others. */
  readonly name: string | null;
};

/** Of a task that goes on: its row says what it is. */
export const resumed: Identity = { kind: "task", name: null, hashes: () => ({ claim: "", argumentsHash: "" }) };

/** Whether the results of calls of a server are kept; of a portal's, as the server does that a call is for. */
export function isKeeping({ call: { route, portal }, received }: Admitted): boolean {
  // Behind a portal its own call is the one that is kept; of a server's own sign-in no caller is known.
  if (portal !== null || route.authMode === "passthrough" || !received.isMcp) return false;
  if (route.target.kind === "portal") return true;
  return route.keepResultsMinutes > 0 && (route.target.kind === "deployment" || route.target.kind === "external");
}

type Asked = { readonly isTask: boolean; readonly hashArguments: HashArguments };

/** Null: a second request would be a second call. @throws GatewayError for a key that can't be one */
export function identityOf(admitted: Admitted, { isTask, hashArguments }: Asked): Identity | null {
  const { call, principal, peek, session } = admitted;
  const { route } = call;
  if (peek.method !== "tools/call" || peek.kind !== "request" || !isKeeping(admitted)) return null;
  const key = headerOf(call.request, keyHeader);
  const isNamed = principal.id !== anonymous.id;
  const hashes = (parts: () => readonly unknown[]) => once(() => hashesOf(admitted.body, parts(), hashArguments));
  const ofTask = (): Identity => ({
    kind: "task",
    name: null,
    hashes: hashes(() => ["task", call.id]),
  });
  if (!isNamed && (key === undefined || session === null)) return isTask ? ofTask() : null;
  // Names change; a preview is another server.
  const place = () => [route.projectId, route.branchId, principal.id];
  if (key !== undefined) {
    if (!/^[\x21-\x7e]+$/.test(key) || key.length > maxKeyLength) throw notAKey();
    // Nobody else can know the session of a caller without a name.
    const owner = isNamed ? [] : [session?.key];
    return { kind: "key", name: null, hashes: hashes(() => ["key", ...place(), ...owner, key]) };
  }
  if (isTask) return ofTask();
  // Closing the connection cancels a call of 2026-07-28.
  if (session === null || peek.era !== "legacy" || peek.id === null || !idPattern.test(String(peek.id))) return null;
  const name = `${session.key} ${typeof peek.id} ${peek.id}`;
  return { kind: "repeat", name, hashes: hashes(() => ["repeat", ...place(), name]) };
}

function once(compute: Identity["hashes"]): Identity["hashes"] {
  let hashes: ReturnType<Identity["hashes"]> | undefined;
  return () => {
    hashes ??= compute();
    return hashes;
  };
}

function hashesOf(body: Buffer, parts: readonly unknown[], hashArguments: HashArguments) {
  const { params } = parseExactly(body.toString("utf8")) as { params?: Record<string, unknown> };
  const { _meta, task, requestState, inputResponses, ...asked } = params ?? {};
  const argumentsHash = hashArguments(canonical(asked));
  // The rounds of a call that asks for input (2026-07-28) are requests of their own under one key.
  const round = [requestState ?? null, inputResponses ?? null];
  // Without a key, other arguments are another call; with one, they are a mistake.
  const own = parts[0] === "key" ? round : [argumentsHash, ...round];
  return { claim: sha256(canonical([...parts, ...own])), argumentsHash };
}

const { isRawJSON } = JSON as unknown as { isRawJSON: (value: unknown) => boolean };

/** JSON with the members of objects in order. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    typeof each === "object" && each !== null && !Array.isArray(each) && !isRawJSON(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}

const notAKey = () =>
  new GatewayError(
    "idempotency_key_refused",
    `An Idempotency-Key has 1 to ${maxKeyLength} printable ASCII characters without spaces. The call was not run.`,
  );
