import type { Context, MiddlewareHandler } from "hono";
import { getCookie, setCookie } from "hono/cookie";
import type { ForgeContext } from "../forge.context.ts";
import type { Account } from "../state/accounts.ts";
import { accountOfSession, createSession } from "../state/tokens.ts";

const cookieName = "forge_session";
const secondsOf30Days = 30 * 24 * 3600;

export type PageEnvironment = { Variables: { viewer: Account | null } };
export type PageContext = Context<PageEnvironment>;

export function readSession(context: ForgeContext): MiddlewareHandler<PageEnvironment> {
  return async (c, next) => {
    const token = getCookie(c, cookieName);
    c.set("viewer", token ? accountOfSession(context.database, token) : null);
    await next();
  };
}

export function startSession(context: ForgeContext, c: PageContext, account: Account): void {
  const token = createSession(context.database, account.id);
  setCookie(c, cookieName, token, { httpOnly: true, sameSite: "Lax", path: "/", maxAge: secondsOf30Days });
}

/** Returns a path of the forge itself; anything that could lead elsewhere becomes the start page. */
export function safeReturnPath(path: string | undefined): string {
  return path !== undefined && /^\/(?![/\\])[^\\\s]*$/.test(path) ? path : "/";
}

/** The sign-in page's URL, with a return to this request. */
export function redirectToSignIn(c: PageContext): Response {
  const url = new URL(c.req.url);
  return c.redirect(`/login?return_to=${encodeURIComponent(url.pathname + url.search)}`);
}
