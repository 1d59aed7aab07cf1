import { sha256 } from "@towpath/crypto";
import type { RequestPeek } from "@towpath/mcp/peek";
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
  if (live === null || !release?.isRunning) return live;
  const isOpening = peek.era === "legacy" && peek.kind === "request" && peek.method === "initialize";
  const caller = principal.id === anonymous.id ? call.address : principal.id;
  const dealt = release.hasSessions && isOpening ? call.id : caller;
  return percentile(`${release.id}\n${dealt}`) < release.share ? release.deploymentId : live;
}

/** A text as a number from 0 to below 100, evenly spread. */
const percentile = (text: string): number => (Number.parseInt(sha256(text, "hex").slice(0, 8), 16) / 2 ** 32) * 100;
