import { Hono } from "hono";
import { html } from "hono/html";
import { z } from "zod";
import type { ForgeContext } from "../forge.context.ts";
import { type Html, hidden, page, problemNote } from "../pages/layout.ts";
import { type Account, createAccount, findAccount, listAccounts, newAccountSchema } from "../state/accounts.ts";
import { type PageContext, type PageEnvironment, safeReturnPath, startSession, stopSession } from "./session.ts";

/** Either one of the accounts, or a new one. */
const chosenSchema = z.object({ existing: z.string() });

function accountButton(account: Account): Html {
  return html`<li><button name="existing" value="${account.login}" type="submit">
    <img class="avatar" src="/${account.login}/avatar.svg" alt=""><span><strong>${account.login}</strong>${account.name ? html` <span class="soft">${account.name}</span>` : ""}</span>
  </button></li>`;
}

type Attempt = { readonly login: string; readonly name: string; readonly email: string };
const blank: Attempt = { login: "", name: "", email: "" };

function signInPage(accounts: readonly Account[], returnTo: string, problem: string | null, attempt: Attempt): Html {
  const choose = html`<section class="card" aria-labelledby="choose">
    <h2 id="choose">Continue as</h2>
    <form method="post" action="/login">${hidden("return_to", returnTo)}
      <ul class="list accounts">${accounts.map(accountButton)}</ul>
    </form>
  </section>`;
  const body = html`
    <h1>Sign in to Towpath Forge</h1>
    <p class="soft">Accounts here have no password: only this machine can reach the forge.</p>
    ${problemNote(problem)}
    ${accounts.length > 0 ? choose : ""}
    <section class="card" aria-labelledby="create">
      <h2 id="create">${accounts.length > 0 ? "Or create another account" : "Create your local account"}</h2>
      <form method="post" action="/login">${hidden("return_to", returnTo)}
        <div class="field"><label for="login">Account name</label>
          <input id="login" name="login" type="text" required maxlength="39" autocomplete="username" autocapitalize="none" spellcheck="false" value="${attempt.login}" aria-describedby="login-hint">
          <p class="hint" id="login-hint">Letters, digits and single hyphens. Your repositories will be at /name/…</p></div>
        <div class="field"><label for="name">Display name <span class="soft">(optional)</span></label>
          <input id="name" name="name" type="text" maxlength="100" autocomplete="name" value="${attempt.name}"></div>
        <div class="field"><label for="email">Email <span class="soft">(optional, for commits)</span></label>
          <input id="email" name="email" type="email" autocomplete="email" value="${attempt.email}"></div>
        <button class="primary full" type="submit">Create account and continue</button>
      </form>
    </section>`;
  return page({ title: "Sign in", viewer: null, width: "narrow", body });
}

/** Sign-in: choosing or creating a local account. */
export function signInRoutes(context: ForgeContext): Hono<PageEnvironment> {
  const { database } = context;
  const routes = new Hono<PageEnvironment>();

  const show = (c: PageContext, returnTo: string, problem: string | null, attempt = blank) =>
    c.html(signInPage(listAccounts(database), returnTo, problem, attempt), problem ? 422 : 200);

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
    const attempt = { login: form.login ?? "", name: form.name ?? "", email: form.email ?? "" };
    const input = newAccountSchema.safeParse(attempt);
    if (!input.success) return show(c, returnTo, input.error.issues.map((issue) => issue.message).join(" "), attempt);
    const account = createAccount(database, input.data);
    if (account === null) return show(c, returnTo, "An account of this name exists already. Choose it above.", attempt);
    startSession(context, c, account);
    return c.redirect(returnTo, 303);
  });

  routes.post("/logout", (c) => {
    stopSession(context, c);
    return c.redirect("/", 303);
  });

  return routes;
}
