import { Hono } from "hono";
import { html } from "hono/html";
import { z } from "zod";
import { appName, type ForgeContext } from "../forge.context.ts";
import { type Html, hidden, page } from "../pages/layout.ts";
import type { Account } from "../state/accounts.ts";
import { timestamp } from "../state/database.ts";
import { createCode } from "../state/tokens.ts";
import { type PageContext, type PageEnvironment, redirectToSignIn } from "./session.ts";

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

function refusalPage(viewer: Account | null, problem: string): Html {
  const body = html`<h1>This link cannot be used</h1>
    <p class="note problem" role="alert">${problem}</p>
    <p class="soft">Go back to Towpath and connect again.</p>`;
  return page({ title: "Authorize", viewer, width: "narrow", body });
}

function authorizePage(c: PageContext, viewer: Account, request: AuthorizeRequest, redirect: string): Html {
  const url = new URL(c.req.url);
  const here = encodeURIComponent(url.pathname + url.search);
  const body = html`
    <h1>Authorize ${appName}</h1>
    <p class="soft">${appName} wants to know who you are here.</p>
    <section class="card">
      <p class="row"><img class="avatar" src="/${viewer.login}/avatar.svg" alt=""><span>Signed in as <strong>${viewer.login}</strong></span>
        <a class="end small" href="/login?return_to=${here}">Use another account</a></p>
      <p>It will be able to:</p>
      <ul>
        <li>see your account name, display name and email</li>
        <li>see which repositories you gave it access to</li>
        <li>create a repository for you when you start from a sample</li>
      </ul>
      <form method="post" action="/login/oauth/authorize">
        ${hidden("client_id", request.client_id)}${hidden("redirect_uri", request.redirect_uri)}${hidden("state", request.state)}
        ${hidden("code_challenge", request.code_challenge)}${hidden("code_challenge_method", request.code_challenge_method)}
        <div class="actions">
          <button type="submit" name="decision" value="cancel">Cancel</button>
          <button class="primary" type="submit" name="decision" value="authorize">Authorize ${appName}</button>
        </div>
      </form>
    </section>
    <p class="soft small">Afterwards you return to <span class="mono">${new URL(redirect).origin}</span></p>`;
  return page({ title: `Authorize ${appName}`, viewer, width: "narrow", body });
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
    if ("problem" in checked) return c.html(refusalPage(viewer, checked.problem), 400);
    if (viewer === null) return redirectToSignIn(c);
    const isGranted = database.get(z.unknown(), "SELECT 1 FROM oauth_grant WHERE account_id = ?", viewer.id) !== null;
    // Like GitHub: the user is asked once, later redirected at once.
    if (isGranted) return c.redirect(grant(viewer, checked.request, checked.redirect));
    return c.html(authorizePage(c, viewer, checked.request, checked.redirect));
  });

  routes.post("/login/oauth/authorize", async (c) => {
    const viewer = c.get("viewer");
    const form = await c.req.parseBody();
    const checked = check(form);
    if ("problem" in checked) return c.html(refusalPage(viewer, checked.problem), 400);
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
