import { createHash, randomBytes } from "node:crypto";
import { parseWebhook } from "@towpath/github";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Browser, locationOf, startTestForge, type TestForge } from "../testing/test-forge.ts";

let forge: TestForge;

beforeAll(async () => {
  forge = await startTestForge();
});
afterAll(() => forge.close());

async function signedIn(login: string): Promise<Browser> {
  await forge.admin.ensureAccount({ login });
  const browser = new Browser(forge.url);
  expect((await browser.submit("/login", { existing: login })).status).toBe(303);
  return browser;
}

const pathOf = (url: string) => url.slice(forge.url.length);

test("ONB-2 a new user authorizes: sign-in, consent, back to the callback with code and state", async () => {
  const browser = new Browser(forge.url);
  const authorize = pathOf(forge.gitHub.userAuthorizeUrl({ state: "state 1&2" }));
  const toSignIn = locationOf(await browser.get(authorize));
  expect(toSignIn.pathname).toBe("/login");
  const returnTo = toSignIn.searchParams.get("return_to") ?? "";
  const created = await browser.submit("/login", { login: "ada", name: "Ada Lock", return_to: returnTo });
  expect(created.headers.get("location")).toBe(returnTo);

  const consent = await browser.get(returnTo);
  const text = await consent.text();
  expect(text).toContain("Authorize Towpath");
  expect(text).toContain("<title>Authorize Towpath · Towpath Forge</title>");
  const fields = { client_id: "Iv1.test", state: "state 1&2", decision: "authorize" };
  const back = locationOf(await browser.submit("/login/oauth/authorize", fields));
  expect(back.origin + back.pathname).toBe("http://localhost:3000/api/github/callback");
  expect(back.searchParams.get("state")).toBe("state 1&2");
  const token = await forge.gitHub.exchangeCode({ code: back.searchParams.get("code") ?? "" });
  expect((await forge.gitHub.viewer(token.accessToken)).login).toBe("ada");
  // Like GitHub: the second time there is nothing to ask.
  expect(locationOf(await browser.get(authorize)).searchParams.get("code")).toMatch(/^\S{20,}$/);
});

test("ONB-2 installing on all repositories leads back to the set-up address, a second time as an update", async () => {
  const browser = await signedIn("ben");
  const page = await browser.get(pathOf(forge.gitHub.installUrl("st")));
  expect(await page.text()).toContain("Install Towpath");
  const back = locationOf(await browser.submit("/apps/towpath-test/installations", { selection: "all", state: "st" }));
  expect(back.origin + back.pathname).toBe("http://localhost:3000/api/github/setup");
  expect(Object.fromEntries(back.searchParams)).toEqual({
    installation_id: expect.any(String),
    setup_action: "install",
    state: "st",
  });
  const id = Number(back.searchParams.get("installation_id"));
  const told = await forge.hooks.waitFor(
    ({ event }, payload) => event === "installation" && JSON.stringify(payload).includes('"ben"'),
  );
  expect(parseWebhook("installation", told.body)).toMatchObject({
    payload: { action: "created", installation: { id, account: { login: "ben" } } },
  });

  expect(await (await browser.get(pathOf(forge.gitHub.installUrl("st")))).text()).toContain("Configure Towpath");
  const again = locationOf(await browser.submit("/apps/towpath-test/installations", { selection: "all", state: "st" }));
  expect(again.searchParams.get("setup_action")).toBe("update");
  expect(again.searchParams.get("installation_id")).toBe(String(id));
  await browser.submit(`/settings/installations/${id}/uninstall`, {});
  await forge.hooks.waitFor(({ event }, payload) => event === "installation" && payload.action === "deleted");
  await expect(forge.gitHub.installation(id)).rejects.toMatchObject({ code: "not_found" });
});

test("ONB-2 an installation on selected repositories reaches these and sends its changes", async () => {
  const browser = await signedIn("cora");
  const one = (await forge.admin.ensureRepository({ owner: "cora", name: "one" })).repository;
  const two = (await forge.admin.ensureRepository({ owner: "cora", name: "two" })).repository;
  const { repository: foreign } = await signedIn("dan").then(() =>
    forge.admin.ensureRepository({ owner: "dan", name: "foreign" }),
  );
  const none = await browser.submit("/apps/towpath-test/installations", { selection: "selected" });
  expect(none.status).toBe(422);
  const choose = (...ids: number[]): [string, string][] => [
    ["selection", "selected"],
    ...ids.map((id): [string, string] => ["repository", String(id)]),
  ];
  const back = locationOf(await browser.submit("/apps/towpath-test/installations", choose(one.id, foreign.id)));
  const id = Number(back.searchParams.get("installation_id"));
  const names = async () => (await forge.gitHub.repositories(id)).items.map(({ full_name }) => full_name);
  expect(await names()).toEqual(["cora/one"]);
  await browser.submit("/apps/towpath-test/installations", choose(two.id));
  expect(await names()).toEqual(["cora/two"]);
  const added = await forge.hooks.waitFor(
    ({ event }, payload) => event === "installation_repositories" && payload.action === "added",
  );
  expect(parseWebhook("installation_repositories", added.body)).toMatchObject({
    payload: { repositories_added: [{ full_name: "cora/two" }] },
  });
  const removed = await forge.hooks.waitFor(
    ({ event }, payload) => event === "installation_repositories" && payload.action === "removed",
  );
  expect(parseWebhook("installation_repositories", removed.body)).toMatchObject({
    payload: { repositories_removed: [{ full_name: "cora/one" }] },
  });
});

async function codeFor(browser: Browser, more: Record<string, string> = {}): Promise<string> {
  const fields = { client_id: "Iv1.test", decision: "authorize", ...more };
  return locationOf(await browser.submit("/login/oauth/authorize", fields)).searchParams.get("code") ?? "";
}

test("GH-1 a code works once; a second use also ends what the first one got", async () => {
  const code = await codeFor(await signedIn("eve"));
  const token = await forge.gitHub.exchangeCode({ code });
  expect(token.expiresAt?.getTime()).toBeGreaterThan(Date.now());
  expect((await forge.gitHub.viewer(token.accessToken)).login).toBe("eve");
  await expect(forge.gitHub.exchangeCode({ code })).rejects.toMatchObject({ code: "unauthorized" });
  await expect(forge.gitHub.viewer(token.accessToken)).rejects.toMatchObject({ code: "unauthorized" });
  await expect(forge.gitHub.exchangeCode({ code: "made-up" })).rejects.toMatchObject({ code: "unauthorized" });
});

test("GH-1 a refresh token gives a new pair and is then used up", async () => {
  const token = await forge.gitHub.exchangeCode({ code: await codeFor(await signedIn("eve")) });
  const next = await forge.gitHub.refreshUserToken(token.refreshToken ?? "");
  expect((await forge.gitHub.viewer(next.accessToken)).login).toBe("eve");
  await expect(forge.gitHub.refreshUserToken(token.refreshToken ?? "")).rejects.toMatchObject({ code: "unauthorized" });
});

test("GH-1 a code with a challenge needs its verifier; another client gets nothing", async () => {
  const browser = await signedIn("eve");
  const verifier = randomBytes(32).toString("base64url");
  const challenge = {
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
  };
  const wrong = forge.gitHub.exchangeCode({ code: await codeFor(browser, challenge), codeVerifier: "x".repeat(43) });
  await expect(wrong).rejects.toMatchObject({ code: "unauthorized" });
  const right = await forge.gitHub.exchangeCode({ code: await codeFor(browser, challenge), codeVerifier: verifier });
  expect(right.accessToken).toBeTruthy();
  const body = new URLSearchParams({ client_id: "Iv1.test", client_secret: "wrong", code: await codeFor(browser) });
  const refused = await fetch(`${forge.url}/login/oauth/access_token`, {
    method: "POST",
    body,
    headers: { accept: "application/json" },
  });
  expect(await refused.json()).toEqual({ error: "incorrect_client_credentials" });
});

test("GH-3 return addresses elsewhere are refused", async () => {
  const browser = await signedIn("eve");
  for (const redirect of [
    "https://evil.example/api/github/callback",
    "http://localhost:3000/api/github/callbackx",
    "javascript:alert(1)",
    "http://localhost:3000/other",
  ]) {
    const query = new URLSearchParams({ client_id: "Iv1.test", redirect_uri: redirect });
    expect([redirect, (await browser.get(`/login/oauth/authorize?${query}`)).status]).toEqual([redirect, 400]);
  }
  expect((await browser.get("/login/oauth/authorize?client_id=other")).status).toBe(400);
  for (const path of ["//evil.example", "/\\evil.example", "https://evil.example"]) {
    expect((await browser.submit("/login", { existing: "eve", return_to: path })).headers.get("location")).toBe("/");
  }
});

test("GH-3 declining goes back with access_denied", async () => {
  const browser = await signedIn("una");
  const back = locationOf(
    await browser.submit("/login/oauth/authorize", { client_id: "Iv1.test", state: "s", decision: "cancel" }),
  );
  expect([back.searchParams.get("error"), back.searchParams.get("state"), back.searchParams.get("code")]).toEqual([
    "access_denied",
    "s",
    null,
  ]);
});

test("GH-3 forms from other origins and requests for other hosts are refused", async () => {
  const browser = await signedIn("eve");
  const fields = { name: "stolen", visibility: "public" };
  expect((await browser.submit("/new", fields, "http://localhost:8080")).status).toBe(403);
  expect((await browser.submit("/new", fields, "null")).status).toBe(403);
  expect((await browser.submit("/new", fields)).status).toBe(303);
  const { request } = await import("node:http");
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const options = { host: "127.0.0.1", port: forge.config.port, path: "/login", headers: { host: "evil.example" } };
    request(options, (response) => resolve(response.resume().statusCode))
      .on("error", reject)
      .end();
  });
  expect(status).toBe(421);
});

test("GH-3 names from outside are shown as text, never as markup", async () => {
  await forge.admin.ensureAccount({ login: "xss", name: "<script>alert(1)</script>" });
  const browser = await signedIn("xss");
  await browser.submit("/new", { name: "page", description: '"><img src=x onerror=alert(1)>', visibility: "public" });
  const page = await browser.get("/xss/page");
  const text = await page.text();
  expect(text).toContain("&lt;img src=x");
  expect(text).not.toContain("<img src=x");
  expect(await (await browser.get("/xss")).text()).not.toContain("<script>alert");
  expect(page.headers.get("content-security-policy")).toContain("script-src 'self'");
});

test("GH-3 repository names follow GitHub's rules, and problems are shown beside the form", async () => {
  const browser = await signedIn("eve");
  for (const name of ["", "..", "a b", "a/b", "x.git", "é", "n".repeat(101)]) {
    const answer = await browser.submit("/new", { name, visibility: "public" });
    expect([name, answer.status]).toEqual([name, 422]);
  }
  expect((await browser.submit("/new", { name: "Fine_1.x-y", visibility: "private", readme: "yes" })).status).toBe(303);
  expect(await (await browser.submit("/new", { name: "fine_1.X-y", visibility: "public" })).text()).toContain(
    "already",
  );
  const page = await (await browser.get("/eve/Fine_1.x-y")).text();
  expect(page).toMatch(/<h2>Branches<\/h2>.*main/s);
  // Private: a stranger cannot tell it from nothing.
  expect((await (await signedIn("stranger")).get("/eve/Fine_1.x-y")).status).toBe(404);
});
