import { Hono } from "hono";
import { html } from "hono/html";
import { z } from "zod";
import type { ForgeContext } from "../forge.context.ts";
import { type Html, hidden, page, problemNote } from "../pages/layout.ts";
import { createAccount, findAccount, newAccountSchema } from "../state/accounts.ts";
import { type PageContext, type PageEnvironment, safeReturnPath, startSession } from "./session.ts";

const chosenSchema = z.object({ existing: z.string() });

function signInPage(returnTo: string, problem: string | null): Html {
  const body = html`${problemNote(problem)}
    <form method="post" action="/login">${hidden("return_to", returnTo)}
      <label>Account name <input name="login" type="text" required></label>
      <button type="submit">Create account and continue</button>
    </form>`;
  return page({ title: "Sign in", body });
}

/** Sign-in without passwords: a new account by the form, an existing one by its name in `existing`. */
export function signInRoutes(context: ForgeContext): Hono<PageEnvironment> {
  const { database } = context;
  const routes = new Hono<PageEnvironment>();

  const show = (c: PageContext, returnTo: string, problem: string | null) =>
    c.html(signInPage(returnTo, problem), problem ? 422 : 200);

  routes.get("/login", (c) => show(c, safeReturnPath(c.req.query("return_to")), null));

  routes.post("/login", async (c) => {
    const form = z.record(z.string(), z.string().catch("")).parse(await c.req.parseBody());
    const returnTo = safeReturnPath(form.return_to);
    const chosen = chosenSchema.safeParse(form);
    if (chosen.success) {
      const account = findAccount(database, chosen.data.existing);
      if (account === null) return show(c, returnTo, "There is no such account.");
      startSession(context, c, account);
      return c.redirect(returnTo, 303);
    }
    const input = newAccountSchema.safeParse(form);
    if (!input.success) return show(c, returnTo, input.error.issues.map((issue) => issue.message).join(" "));
    const account = createAccount(database, input.data);
    if (account === null) return show(c, returnTo, "An account of this name exists already.");
    startSession(context, c, account);
    return c.redirect(returnTo, 303);
  });

  return routes;
}
