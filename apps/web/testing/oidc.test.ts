import { createHash, randomBytes } from "node:crypto";
import { oidcProviderId } from "@towpath/auth";
import { newId } from "@towpath/core/ids";
import { inviteMembers } from "@towpath/core/tenancy/invitation";
import { seedExternalRoute, seedOrganization, seedProject, testContext } from "@towpath/core/testing";
import { account, auditLog, member, user } from "@towpath/db/schema";
import { freePort } from "@towpath/role/testing";
import { eq } from "drizzle-orm";
import { decodeJwt, generateKeyPair, SignJWT } from "jose";
import { afterAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { signInAtIssuer, startIssuer } from "./oidc-issuer.ts";
import { openSite } from "./site.ts";
import { callServerFunction, newVisitor, type Visitor } from "./visitor.ts";
import { startWeb } from "./web-process.ts";

let issuer: { readonly url: string; stop(): void };
const site = openSite(async (url) => {
  const port = await freePort();
  issuer = await startIssuer(port, `${url}/api/auth/callback/oidc`);
  return {
    TOWPATH_OIDC_ISSUER: issuer.url,
    TOWPATH_OIDC_CLIENT_ID: "towpath",
    TOWPATH_OIDC_CLIENT_SECRET: "secret-of-the-test-client",
  };
});

afterAll(() => issuer?.stop());

/** Signs in as `name` at the issuer and consents. Returns the URL that it redirects back to. */
const signIn = (authorizeUrl: string, name: string, browser = newVisitor(issuer.url)) =>
  signInAtIssuer(authorizeUrl, { name, back: site.url, browser });

async function roundTrip(
  visitor: Visitor,
  name: string,
  returnTo = "/account",
  browser = newVisitor(issuer.url),
): Promise<Response> {
  const start = await visitor.get(`/login?returnTo=${encodeURIComponent(returnTo)}`);
  expect(start.status).toBe(302);
  return visitor.get(await signIn(start.headers.get("location") ?? "", name, browser));
}

/** Ends the issuer's session on its own page, with its confirmation. Returns where it sends the browser. */
async function signOutAtIssuer(url: string, browser: Visitor): Promise<string> {
  const html = await (await browser.get(url)).text();
  const xsrf = /name="xsrf" value="([^"]+)"/.exec(html)?.[1] ?? "";
  const action = /action="([^"]+)"/.exec(html)?.[1] ?? "";
  return (await browser.submit(action, { xsrf, logout: "yes" })).headers.get("location") ?? "";
}

test("AUTH-1 AUTH-2 /login redirects at once to the issuer, with PKCE, state, nonce and the constant callback", async () => {
  for (const path of ["/login", "/signup"]) {
    const response = await newVisitor(site.url).get(path);
    expect(response.status).toBe(302);
    const url = new URL(response.headers.get("location") ?? "");
    expect(url.origin).toBe(issuer.url);
    const query = Object.fromEntries(url.searchParams);
    expect(query).toMatchObject({
      client_id: "towpath",
      response_type: "code",
      code_challenge_method: "S256",
      redirect_uri: `${site.url}/api/auth/callback/oidc`,
      state: expect.stringMatching(/.{16,}/),
      nonce: expect.stringMatching(/.{16,}/),
    });
    expect(query.scope?.split(" ")).toEqual(expect.arrayContaining(["openid", "email", "profile"]));
  }
});

test.runIf(isThorough)(
  "AUTH-2 behind TLS the round trip's cookies are __Host- too, and round trips per address are limited",
  async () => {
    const secure = await startWeb({
      databaseUrl: site.databaseUrl,
      environment: () => ({
        TOWPATH_URL: "https://towpath.example",
        TOWPATH_OIDC_ISSUER: issuer.url,
        TOWPATH_OIDC_CLIENT_ID: "towpath",
        TOWPATH_OIDC_CLIENT_SECRET: "secret-of-the-test-client",
      }),
    });
    const origin = `http://localhost:${/"port":(\d+)/.exec(secure.output())?.[1]}`;
    const start = () =>
      newVisitor(origin).get("/login", { "x-forwarded-for": "203.0.113.200", "sec-fetch-site": "none" });
    const first = await start();
    const cookies = first.headers.getSetCookie();
    expect(cookies.length).toBeGreaterThan(0);
    for (const cookie of cookies) {
      expect(cookie).toMatch(/^__Host-towpath\./);
      expect(cookie).toMatch(/; Secure/i);
      expect(cookie).toMatch(/; Path=\/(;|$)/i);
      expect(cookie).not.toMatch(/; Domain=/i);
    }
    const locations = new Set<string | null>();
    for (let count = 0; count < 65; count++) locations.add((await start()).headers.get("location"));
    await secure.stop();
    expect([...locations]).toContain("/provider/problem?error=too_many_attempts");
  },
);

test("AUTH-2 AUTH-11 a round trip to a real issuer signs in; identity is issuer and subject", async () => {
  const visitor = newVisitor(site.url);
  const back = await roundTrip(visitor, "grace", "/account?from=issuer");
  expect([back.status, back.headers.get("location")]).toEqual([302, `${site.url}/account?from=issuer`]);
  const page = await (await visitor.get("/account")).text();
  expect(page).toContain("grace@example.com");
  expect(page).toContain("Hopper");

  const [stored] = await site.db.select().from(account).where(eq(account.accountId, "grace"));
  expect(stored?.providerId).toBe(oidcProviderId(issuer.url));
  expect(stored?.providerId).not.toBe(oidcProviderId("https://another.example"));

  await roundTrip(newVisitor(site.url), "grace");
  const again = await site.db.select().from(account).where(eq(account.accountId, "grace"));
  expect(again).toHaveLength(1);
});

test("ORG-7 AUTH-11 the address is the issuer's: each sign-in updates it, and nobody changes it here", async () => {
  const subject = newId();
  const visitor = newVisitor(site.url);
  await roundTrip(visitor, subject);
  const [row] = await site.db.select().from(account).where(eq(account.accountId, subject));
  const userId = row?.userId ?? "";
  const emailOf = async () => (await site.db.select().from(user).where(eq(user.id, userId)))[0]?.email;
  const old = `${newId()}@example.com`;
  await site.db.update(user).set({ email: old }).where(eq(user.id, userId));
  const refused = await callServerFunction(visitor, "account.requestEmailChange", "POST", {
    email: `${newId()}@example.com`,
    password: "any",
  });
  expect([refused.status, refused.text]).toEqual([501, expect.stringContaining("Your address comes from localhost")]);
  expect(await emailOf()).toBe(old);
  await roundTrip(newVisitor(site.url), subject);
  expect(await emailOf()).toBe(`${subject}@example.com`);
  const [entry] = await site.db.select().from(auditLog).where(eq(auditLog.subject, userId));
  expect([entry?.action, entry?.detail]).toEqual(["account.email_change", { from: old, to: `${subject}@example.com` }]);
  // Another account's address stays with it.
  await site.db.update(user).set({ email: old }).where(eq(user.id, userId));
  await site.db.insert(user).values({ id: newId(), name: "Other", email: `${subject}@example.com` });
  await roundTrip(newVisitor(site.url), subject);
  expect(await emailOf()).toBe(old);
});

test("AUTH-11 another subject with the email address of an account gets a message and is not signed in", async () => {
  await roundTrip(newVisitor(site.url), "first~shared@example.com");
  const visitor = newVisitor(site.url);
  const back = await roundTrip(visitor, "second~shared@example.com");
  const problem = back.headers.get("location") ?? "";
  expect(problem).toContain("/provider/problem?error=account_not_linked");
  expect(await (await visitor.get(problem)).text()).toContain("already uses your email address");
  expect((await visitor.get("/account")).headers.get("location")).toContain("/login");
  expect(await site.db.select().from(user).where(eq(user.email, "shared@example.com"))).toHaveLength(1);
});

test("AUTH-1 a return path to another site is dropped", async () => {
  const back = await roundTrip(newVisitor(site.url), "grace", "//evil.example/x");
  expect(new URL(back.headers.get("location") ?? "", site.url).href).toBe(`${site.url}/`);
});

test("AUTH-2 a response of the issuer works once, and only in the browser that started the round trip", async () => {
  const visitor = newVisitor(site.url);
  const start = await visitor.get("/login");
  const answer = await signIn(start.headers.get("location") ?? "", "grace");
  const elsewhere = newVisitor(site.url);
  expect((await elsewhere.get(answer)).headers.get("location")).toContain("/provider/problem");
  expect((await elsewhere.get("/account")).headers.get("location")).toContain("/login");

  const forged = new URL(answer);
  forged.searchParams.set("state", "forged");
  expect((await visitor.get(forged.href)).headers.get("location")).toContain("/provider/problem");
});

test("AUTH-2 with an issuer configured, the embedded provider accepts no sign-up and no password", async () => {
  const fields = { firstName: "A", lastName: "B", email: "a@example.com", password: "long enough for this" };
  expect((await newVisitor(site.url).submit("/provider/sign-up", fields)).status).toBe(403);
  expect((await newVisitor(site.url).submit("/provider/sign-in", fields)).status).toBe(403);
  expect((await newVisitor(site.url).get("/provider/sign-in")).headers.get("location")).toBe("/login");
  expect((await newVisitor(site.url).get("/provider/sign-up")).headers.get("location")).toBe("/signup");
});

test("AUTH-3 /logout ends the session here, then the issuer's, and comes back", async () => {
  const [visitor, atIssuer] = [newVisitor(site.url), newVisitor(issuer.url)];
  await roundTrip(visitor, "grace", "/account", atIssuer);
  // Not a redirect: the page's `form-action` would stop it.
  const page = await visitor.submit("/logout", {});
  expect(page.status).toBe(200);
  expect((await visitor.get("/account")).headers.get("location")).toContain("/login");
  const url = /url=([^"]+)"/.exec(await page.text())?.[1]?.replaceAll("&amp;", "&") ?? "";
  const query = Object.fromEntries(new URL(url).searchParams);
  expect(new URL(url).origin).toBe(issuer.url);
  expect(query).toMatchObject({ client_id: "towpath", post_logout_redirect_uri: `${site.url}/` });
  expect(decodeJwt(query.id_token_hint ?? "")).toMatchObject({ sub: "grace", aud: "towpath" });
  expect(await signOutAtIssuer(url, atIssuer)).toBe(`${site.url}/`);
  // The issuer asks for the password again.
  const again = (await newVisitor(site.url).get("/login")).headers.get("location") ?? "";
  const interaction = (await atIssuer.get(again)).headers.get("location") ?? "";
  expect(await (await atIssuer.get(interaction)).text()).toContain('value="login"');
});

test.runIf(isThorough)(
  "AUTH-3 typed into the URL bar, /logout leads to the issuer; with TOWPATH_OIDC_SIGN_OUT=here it doesn't",
  async () => {
    const typed = { "sec-fetch-site": "none" };
    const visitor = newVisitor(site.url);
    await roundTrip(visitor, "typist");
    const leaves = await visitor.get("/logout", typed);
    expect([leaves.status, leaves.headers.get("location")?.startsWith(issuer.url)]).toEqual([303, true]);
    const local = await startWeb({
      databaseUrl: site.databaseUrl,
      environment: () => ({
        TOWPATH_URL: site.url,
        TOWPATH_OIDC_ISSUER: issuer.url,
        TOWPATH_OIDC_CLIENT_ID: "towpath",
        TOWPATH_OIDC_CLIENT_SECRET: "secret-of-the-test-client",
        TOWPATH_OIDC_SIGN_OUT: "here",
      }),
    });
    const other = newVisitor(site.url);
    await roundTrip(other, "typist");
    const cookie = other.sessionCookie();
    const origin = `http://localhost:${/"port":(\d+)/.exec(local.output())?.[1]}`;
    const headers = { cookie: `${cookie?.name}=${cookie?.value}`, ...typed };
    const stays = await fetch(`${origin}/logout`, { headers, redirect: "manual" });
    await local.stop();
    expect([stays.status, stays.headers.get("location")]).toEqual([303, "/"]);
    expect((await other.get("/account")).headers.get("location")).toContain("/login");
  },
);

test("AUTH-3 when a session ends at the issuer, the one that began with it ends here, and no other", async () => {
  const [first, second, atFirst] = [newVisitor(site.url), newVisitor(site.url), newVisitor(issuer.url)];
  await roundTrip(first, "ida", "/account", atFirst);
  await roundTrip(second, "ida");
  await roundTrip(newVisitor(site.url), "bystander");
  const isSignedIn = async (visitor: Visitor) => (await visitor.get("/account")).status === 200;
  expect([await isSignedIn(first), await isSignedIn(second)]).toEqual([true, true]);
  await signOutAtIssuer(`${issuer.url}/session/end?client_id=towpath`, atFirst);
  expect(await isSignedIn(first)).toBe(false);
  expect(await isSignedIn(second)).toBe(true);
});

test.runIf(isThorough)(
  "AUTH-3 a logout token that the issuer did not sign, or that is an ID token, ends nothing",
  async () => {
    const visitor = newVisitor(site.url);
    await roundTrip(visitor, "jo");
    const [stored] = await site.db.select().from(account).where(eq(account.accountId, "jo"));
    const { privateKey } = await generateKeyPair("RS256");
    const forged = await new SignJWT({
      events: { "http://schemas.openid.net/event/backchannel-logout": {} },
      sub: "jo",
      jti: "1",
    })
      .setProtectedHeader({ alg: "RS256", typ: "logout+jwt" })
      .setIssuer(issuer.url)
      .setAudience("towpath")
      .setIssuedAt()
      .setExpirationTime("2m")
      .sign(privateKey);
    for (const token of [forged, stored?.idToken ?? "", "", "a.b.c"]) {
      const answer = await fetch(`${site.url}/api/auth/backchannel-logout`, {
        method: "POST",
        body: new URLSearchParams({ logout_token: token }),
      });
      expect(answer.status).toBe(400);
    }
    expect((await visitor.get("/account")).status).toBe(200);
  },
);

test("ORG-7 the issuer's settings are changed there: no password and no second factor here", async () => {
  const visitor = newVisitor(site.url);
  await roundTrip(visitor, "kim");
  const read = await callServerFunction(visitor, "account.getSignInMethods", "GET", undefined);
  expect(read.text).toContain(issuer.url);
  const change = { current: "anything at all", next: "another password" };
  const refused = await callServerFunction(visitor, "account.changePassword", "POST", change);
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining("no password on this instance")]);
  expect((await visitor.get("/provider/forgot-password")).headers.get("location")).toBe("/login");
  const reset = await fetch(`${site.url}/api/v1/password-resets`, {
    method: "POST",
    headers: { authorization: `Bearer ${site.operatorToken}` },
    body: JSON.stringify({ email: "kim@example.com" }),
  });
  expect([reset.status, await reset.text()]).toEqual([501, expect.stringContaining("OpenID Connect provider")]);
});

test.runIf(isThorough)(
  "GW-5 AUTH-1 a client's request is kept through the issuer's sign-in to consent, code and token",
  async () => {
    const organization = await seedOrganization(site.db);
    const { id: projectId, name } = await seedProject(site.db, organization, { authMode: "towpath-cloud" });
    await seedExternalRoute(site.db, projectId, name);
    const redirectUri = "https://app.example/callback";
    const metadata = { client_name: "App", redirect_uris: [redirectUri], token_endpoint_auth_method: "none" };
    const registered = await fetch(`${site.url}/oauth/register`, { method: "POST", body: JSON.stringify(metadata) });
    const { client_id: clientId } = (await registered.json()) as { client_id: string };
    const codeVerifier = randomBytes(32).toString("base64url");
    const parameters = new URLSearchParams({
      client_id: clientId,
      redirect_uri: redirectUri,
      response_type: "code",
      state: "s1 & more",
      code_challenge: createHash("sha256").update(codeVerifier).digest("base64url"),
      code_challenge_method: "S256",
      resource: `http://localhost:8080/${name}/mcp`,
    });
    const visitor = newVisitor(site.url);
    const consent = (await visitor.get(`/oauth/authorize?${parameters}`)).headers.get("location") ?? "";
    const login = (await visitor.get(consent)).headers.get("location") ?? "";
    const atIssuer = (await visitor.get(login)).headers.get("location") ?? "";
    expect(new URL(atIssuer).origin).toBe(issuer.url);
    const back = await visitor.get(await signIn(atIssuer, "member"));
    expect(back.headers.get("location")).toBe(`${site.url}${consent}`);

    const request = new URL(consent, site.url).searchParams.get("request") ?? "";
    const read = () => callServerFunction(visitor, "oauth.getConsent", "GET", { request });
    expect((await read()).text).toContain("not_a_member");
    const [signedIn] = await site.db.select().from(account).where(eq(account.accountId, "member"));
    const row = { id: newId(), organizationId: organization.id, userId: signedIn?.userId ?? "", role: "member" };
    await site.db.insert(member).values(row);
    expect((await read()).text).toContain("member@example.com");
    const { text } = await callServerFunction(visitor, "oauth.approveConsent", "POST", { request });
    const code = /[?&]code=([\w-]+)/.exec(text)?.[1] ?? "";
    const fields = { grant_type: "authorization_code", client_id: clientId, code, code_verifier: codeVerifier };
    const issued = await fetch(`${site.url}/oauth/token`, { method: "POST", body: new URLSearchParams(fields) });
    expect(await issued.json()).toMatchObject({ token_type: "Bearer", scope: "mcp" });
  },
);

test.runIf(isThorough)(
  "ORG-6 with an issuer an invitation's link survives the round trip, and only the account with its address joins",
  async () => {
    const organization = await seedOrganization(site.db);
    const email = `${newId()}@example.com`;
    const ctx = testContext(site.db, organization.owner, { dashboardUrl: site.url, mail: null });
    const { invited } = await inviteMembers({
      ctx,
      input: { orgSlug: organization.slug, emails: [email], role: "member" },
    });
    const link = new URL(invited[0]?.link ?? "");
    const path = `${link.pathname}?token=${link.searchParams.get("token")}`;
    const data = { invitationId: link.pathname.split("/").at(-1), token: link.searchParams.get("token") };
    const accept = (visitor: Visitor) => callServerFunction(visitor, "invitation.acceptInvitation", "POST", data);
    const stranger = newVisitor(site.url);
    await roundTrip(stranger, `${newId()}~other-${email}`, path);
    expect((await accept(stranger)).status).toBe(403);
    const visitor = newVisitor(site.url);
    expect(await (await visitor.get(path)).text()).toContain(`/login?returnTo=${encodeURIComponent(path)}`);
    const back = await roundTrip(visitor, `${newId()}~${email}`, path);
    expect(back.headers.get("location")).toBe(`${site.url}${path}`);
    expect((await accept(visitor)).status).toBe(200);
    const roles = await site.db
      .select({ role: member.role })
      .from(member)
      .where(eq(member.organizationId, organization.id));
    expect(roles.map(({ role }) => role).toSorted()).toEqual(["member", "owner"]);
  },
);
