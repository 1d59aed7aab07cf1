import { equalInConstantTime, sha256 } from "@towpath/crypto";
import type { Context } from "../../context/index.ts";
import { type ClientRow, findClient } from "./clients.ts";
import { OAuthError } from "./oauth-error.ts";

/** What a client sent to the token or revocation endpoint to identify itself (RFC 6749, section 2.3). */
export type ClientCredentials = {
  readonly clientId: string | null;
  readonly clientSecret: string | null;
};

/**
 * Public clients name themselves only; others must send their secret, in the header or the body.
 *
 * @throws OAuthError `invalid_client`
 */
export async function authenticateClient(ctx: Context, given: ClientCredentials): Promise<ClientRow> {
  if (!given.clientId) throw new OAuthError("invalid_client", "client_id is missing.", { problem: "client_missing" });
  const client = await findClient(ctx, given.clientId);
  if (!client) {
    throw new OAuthError(
      "invalid_client",
      "This client is not registered, or its registration has expired. Register again.",
      { problem: "client_unknown" },
    );
  }
  if (client.secretHash === null) return client;
  if (given.clientSecret !== null && equalInConstantTime(sha256(given.clientSecret), client.secretHash)) return client;
  throw new OAuthError("invalid_client", "The client secret is missing or wrong.", { problem: "secret_wrong" });
}
