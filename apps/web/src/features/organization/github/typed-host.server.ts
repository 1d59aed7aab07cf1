import { TowpathError } from "@towpath/core/errors";
import { gitHubHostName } from "@towpath/core/sources/github-connection/schema";
import { EgressError, privateNetworkRemedy } from "@towpath/egress";
import { services } from "~/compose.server.ts";

/** The person waits. */
const maxMs = 8000;

/**
 * Checks that a typed GitHub Enterprise host can be reached from here, before an unusable App is made there.
 *
 * @throws TowpathError `invalid_input` with `fields.host`: unknown host, no connection, or an address in a network that
 * the operator hasn't allowed
 */
export async function requireReachableHost(url: string): Promise<void> {
  if (gitHubHostName(url) === "GitHub") return;
  try {
    const response = await services().reachGitHub(url, { method: "HEAD", signal: AbortSignal.timeout(maxMs) });
    await response.body?.cancel();
  } catch (error) {
    // Other failures don't concern the host's address.
    if (!(error instanceof EgressError)) return;
    const isPrivate = error.problem === "address_not_allowed";
    const message = isPrivate ? `${error.message} ${privateNetworkRemedy}` : error.message;
    throw new TowpathError("invalid_input", message, { fields: { host: message }, cause: error });
  }
}
