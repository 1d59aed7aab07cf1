import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { z } from "zod";
import type { ForgeContext } from "../forge.context.ts";
import { exchangeCode, refreshUserTokens, sameSecret } from "../state/tokens.ts";

const requestSchema = z.object({
  client_id: z.string(),
  client_secret: z.string(),
  grant_type: z.enum(["authorization_code", "refresh_token"]).default("authorization_code"),
  code: z.string().default(""),
  redirect_uri: z.string().optional(),
  code_verifier: z.string().optional(),
  refresh_token: z.string().default(""),
});

async function readRequest(c: Context): Promise<unknown> {
  const isJson = c.req.header("content-type")?.includes("json") ?? false;
  return isJson ? c.req.json().catch(() => null) : c.req.parseBody();
}

/** JSON if the client accepts it, otherwise form encoding. Errors have status 200 too. Both like GitHub. */
function answer(c: Context, body: Record<string, string | number>): Response {
  if (c.req.header("accept")?.includes("json")) return c.json(body);
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(body)) form.set(name, String(value));
  return c.body(form.toString(), 200, { "content-type": "application/x-www-form-urlencoded" });
}

/** The App's side of OAuth: exchanges a code or refresh token for a user's token. */
export function tokenRoutes(context: ForgeContext): Hono {
  const { config, database } = context;
  const routes = new Hono();

  routes.post("/login/oauth/access_token", bodyLimit({ maxSize: 64 * 1024 }), async (c) => {
    const parsed = requestSchema.safeParse(await readRequest(c));
    const { clientId, clientSecret } = config.app;
    if (!parsed.success || parsed.data.client_id !== clientId || !sameSecret(parsed.data.client_secret, clientSecret)) {
      return answer(c, { error: "incorrect_client_credentials" });
    }
    const { grant_type: grantType, code, refresh_token: refreshToken } = parsed.data;
    const isRefresh = grantType === "refresh_token";
    const tokens = isRefresh
      ? refreshUserTokens(database, refreshToken)
      : exchangeCode(database, {
          code,
          redirectUri: parsed.data.redirect_uri ?? null,
          codeVerifier: parsed.data.code_verifier ?? null,
        });
    if (tokens === null) return answer(c, { error: isRefresh ? "bad_refresh_token" : "bad_verification_code" });
    return answer(c, {
      access_token: tokens.accessToken,
      token_type: "bearer",
      scope: "",
      expires_in: tokens.accessSeconds,
      refresh_token: tokens.refreshToken,
      refresh_token_expires_in: tokens.refreshSeconds,
    });
  });

  return routes;
}
