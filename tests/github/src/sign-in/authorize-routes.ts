import { Hono } from "hono";
import { html } from "hono/html";
import { z } from "zod";
import { appName, type ForgeContext } from "../forge.context.ts";
import { type Html, hidden, page } from "../pages/layout.ts";
import type { Account } from "../state/accounts.ts";
import { timestamp } from "../state/database.ts";
import { createCode } from "../state/tokens.ts";
import { type PageEnvironment, redirectToSignIn } from "./session.ts";

const requestSchema = z.object({
  client_id: z.string(),
  redirect_uri: z.string().optional(),
  state: z.string().max(2048).optional(),
  code_challenge: z.string().min(43).max(128).optional(),
  code_challenge_method: z.literal("S256").optional(),
});
type AuthorizeRequest = z.infer<typeof requestSchema>;

/** The registered callback or a path below it, like GitHub; never another host. */
function redirectUri(context: ForgeContext, given: string | undefined): string | null {
  const registered = new URL(context.config.callbackUrl);
  if (given === undefined) return registered.href;
  const url = URL.canParse(given) ? new URL(given) : null;
  if (url === null || url.origin !== registered.origin || url.hash !== "") return null;
  const isBelow = url.pathname === registered.pathname || url.pathname.startsWith(`${registered.pathname}/`);
  return isBelow ? url.href : null;
}

function backTo(redirect: string, parameters: Record<string, string | undefined>): string {
  const url = new URL(redirect);
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) url.searchParams.set(name, value);
  return url.href;
}

function authorizePage(viewer: Account, request: AuthorizeRequest): Html {
  const body = html`<p>Signed in as ${viewer.login}</p>
    <form method="post" action="/login/oauth/authorize">
      ${hidden("client_id", request.client_id)}${hidden("redirect_uri", request.redirect_uri)}${hidden("state", request.state)}
      ${hidden("code_challenge", request.code_challenge)}${hidden("code_challenge_method", request.code_challenge_method)}
      <button type="submit" name="decision" value="cancel">Cancel</button>
      <button type="submit" name="decision" value="authorize">Authorize ${appName}</button>
    </form>`;
  return page({ title: `Authorize ${appName}`, body });
}

/**
 * The user's side of OAuth: `/login/oauth/authorize`. Source: GitHub docs, "Authorizing OAuth apps", RFC 6749 and 7636.
 */
export function authorizeRoutes(context: ForgeContext): Hono<PageEnvironment> {
  const { database, config } = context;
  const routes = new Hono<PageEnvironment>();

  function check(input: unknown): { request: AuthorizeRequest; redirect: string } | { problem: string } {
    const parsed = requestSchema.safeParse(input);
    if (!parsed.success || parsed.data.client_id !== config.app.clientId)
      return { problem: "The application is not known here." };
    const redirect = redirectUri(context, parsed.data.redirect_uri);
    if (redirect === null) return { problem: "The return address does not belong to the application." };
    return { request: parsed.data, redirect };
  }

  function grant(viewer: Account, request: AuthorizeRequest, redirect: string): string {
    database.run(
      "INSERT INTO oauth_grant (account_id, created_at) VALUES (?, ?) ON CONFLICT DO NOTHING",
      viewer.id,
      timestamp(),
    );
    const code = createCode(database, {
      accountId: viewer.id,
      redirectUri: redirect,
      codeChallenge: request.code_challenge ?? null,
    });
    return backTo(redirect, { code, state: request.state });
  }

  routes.get("/login/oauth/authorize", (c) => {
    const viewer = c.get("viewer");
    const checked = check(c.req.query());
    if ("problem" in checked) return c.text(checked.problem, 400);
    if (viewer === null) return redirectToSignIn(c);
    const isGranted = database.get(z.unknown(), "SELECT 1 FROM oauth_grant WHERE account_id = ?", viewer.id) !== null;
    // Like GitHub: the user is asked once, later redirected at once.
    if (isGranted) return c.redirect(grant(viewer, checked.request, checked.redirect));
    return c.html(authorizePage(viewer, checked.request));
  });

  routes.post("/login/oauth/authorize", async (c) => {
    const viewer = c.get("viewer");
    const form = await c.req.parseBody();
    const checked = check(form);
    if ("problem" in checked) return c.text(checked.problem, 400);
    if (viewer === null) return c.redirect("/login", 303);
    if (form.decision === "authorize") return c.redirect(grant(viewer, checked.request, checked.redirect), 303);
    const denied = {
      error: "access_denied",
      error_description: "The user did not authorize the App.",
      state: checked.request.state,
    };
    return c.redirect(backTo(checked.redirect, denied), 303);
  });

  return routes;
}
