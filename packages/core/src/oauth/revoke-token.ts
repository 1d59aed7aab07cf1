import type { Context } from "../context/index.ts";
import { authenticateClient, type ClientCredentials } from "./authenticate-client.ts";
import { endFamily, findRefreshToken } from "./issue-tokens.ts";

/**
 * Ends a refresh token and all that came from the same sign-in (RFC 7009). A token that is unknown, or an access token,
 * which ends by itself within minutes, is no error (section 2.2).
 *
 * @throws OAuthError `invalid_client`
 */
export async function revokeToken(call: {
  ctx: Context;
  input: ClientCredentials & { readonly token: string };
}): Promise<void> {
  const { ctx, input } = call;
  const client = await authenticateClient(ctx, input);
  const found = await findRefreshToken(ctx, input.token, client);
  if (found) await ctx.db.transaction((tx) => endFamily(tx, found.token.familyId));
}
