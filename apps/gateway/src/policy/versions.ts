import { checkCaller } from "@towpath/auth/credentials";
import { sha256 } from "@towpath/crypto";
import type { RequestPeek } from "@towpath/mcp/peek";
import { type ServerKey, serverKeyOf } from "@towpath/runner-api";
import type { RoutedCall } from "../call/states.ts";
import { deploymentOf, type Route } from "../read-model/routes.ts";
import { anonymous, type Principal } from "./credentials.ts";

type Asked = {
  readonly call: Pick<RoutedCall, "id" | "address">;
  readonly principal: Pick<Principal, "id">;
  readonly peek: Pick<RequestPeek, "kind" | "method" | "era">;
};

/**
 * The deployment for a request without a session. While a release runs, its version gets its share: of new sessions, each
 * dealt by itself; and where requests need no session, of callers, so that each of them stays with one version. A share
 * only grows by adding callers. Null for targets that are no deployment.
 */
export function versionFor(route: Route, { call, principal, peek }: Asked): string | null {
  const live = deploymentOf(route);
  const { release } = route;
  // Replayed calls compare with what most callers get.
  if (live === null || !release?.isRunning || principal.id === checkCaller) return live;
  const isOpening = peek.era === "legacy" && peek.kind === "request" && peek.method === "initialize";
  const caller = principal.id === anonymous.id ? call.address : principal.id;
  const dealt = release.hasSessions && isOpening ? call.id : caller;
  return percentile(`${release.id}\n${dealt}`) < release.share ? release.deploymentId : live;
}

/**
 * The server of a deployment for a caller: while variables are per caller, the caller's own instance, which only people
 * have (CAP-1). Null for a caller without one, and without a deployment.
 */
export function serverFor(
  { perCaller }: Pick<Route, "perCaller">,
  deploymentId: string | null,
  { actor }: Pick<Principal, "actor">,
): ServerKey | null {
  if (deploymentId === null) return null;
  if (perCaller.length === 0) return serverKeyOf({ deploymentId, callerId: null });
  const callerId = actor?.member?.userId ?? null;
  return callerId === null ? null : serverKeyOf({ deploymentId, callerId });
}

/** A text as a number from 0 to below 100, evenly spread. */
const percentile = (text: string): number => (Number.parseInt(sha256(text, "hex").slice(0, 8), 16) / 2 ** 32) * 100;
