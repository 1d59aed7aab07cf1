import type { Context } from "../../context/index.ts";
import { authenticateClient, type ClientCredentials } from "./authenticate-client.ts";
import { endFamily } from "./families.ts";
import { findRefreshToken } from "./refresh-tokens.ts";

/** `familyId`: null for a token of an earlier version. */
type RevokedAccessToken = { readonly clientId: string; readonly grantId: string; readonly familyId: string | null };

/**
 * Ends a refresh token or an access token, and all that came from the same sign-in (RFC 7009). A token that is unknown is
 * no error (section 2.2). `accessToken`: the claims of a valid access token, for any server.
 *
 * @throws OAuthError `invalid_client`
 */
export async function revokeToken(call: {
  ctx: Context;
  input: ClientCredentials & { readonly token: string; readonly accessToken: RevokedAccessToken | null };
}): Promise<void> {
  const { ctx, input } = call;
  const client = await authenticateClient(ctx, input);
  const { accessToken } = input;
  const family =
    accessToken?.clientId === client.id ? accessToken : (await findRefreshToken(ctx, input.token, client))?.token;
  const { grantId, familyId } = family ?? {};
  if (grantId && familyId) await ctx.db.transaction((tx) => endFamily(tx, ctx.clock.now(), { grantId, familyId }));
}
