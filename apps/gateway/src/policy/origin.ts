import type { Call } from "../call/states.ts";
import { GatewayError } from "../gateway-error.ts";
import { isLoopbackName, type ServerAddress } from "../route/server-address.ts";
import { isPageOfServer } from "./browsers.ts";
import type { Policy } from "./policy.ts";

type Parts = { readonly serverAddress: ServerAddress; readonly allowedOrigins: readonly string[] };

/** A page of a server's own sign-in protects itself, as on any host: forms of an identity provider lead there too. */
export const originPolicy: Policy<Parts, Call> = (parts, call) => {
  if (!isPageOfServer(call)) checkOrigin(parts, call.request.headers.origin);
  return "passed";
};

/**
 * Refuses requests of unrelated web pages (the specification requires servers to check Origin). A gateway that only its
 * own machine can reach is protected by the network, but every page in the user's browser is inside it: only pages of
 * this machine and configured origins may call. On a public gateway pages of any site may, as servers protect
 * themselves by tokens, which browsers do not add by themselves. `null` (sandboxed frames, files) could be anybody and
 * is refused.
 *
 * @throws GatewayError 403
 */
export function checkOrigin({ serverAddress, allowedOrigins }: Parts, origin: string | undefined): void {
  if (origin === undefined || allowedOrigins.includes(origin)) return;
  const url = origin !== "null" && URL.canParse(origin) ? new URL(origin) : null;
  const isWeb = url?.protocol === "http:" || url?.protocol === "https:";
  const isWellFormed =
    url !== null && (isWeb ? url.origin === origin.toLowerCase() : /^[a-z][a-z0-9+.-]*:\/\/[^/\s]+$/i.test(origin));
  if (isWellFormed && (!isWeb || !serverAddress.isLoopback || isLoopbackName(url.hostname))) return;
  throw new GatewayError(
    "forbidden_origin",
    "Web pages from this origin can't call servers on this instance. Its operator can allow the origin by " +
      "TOWPATH_GATEWAY_ORIGINS.",
  );
}
