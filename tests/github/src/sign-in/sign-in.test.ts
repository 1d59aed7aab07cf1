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
  const fields = { client_id: "Iv1.test", state: "state 1&2", decision: "authorize" };
  const back = locationOf(await browser.submit("/login/oauth/authorize", fields));
  expect(back.origin + back.pathname).toBe("http://localhost:3000/api/github/callback");
  expect(back.searchParams.get("state")).toBe("state 1&2");
  const token = await forge.gitHub.exchangeCode({ code: back.searchParams.get("code") ?? "" });
  expect((await forge.gitHub.viewer(token.accessToken)).login).toBe("ada");
  // Like GitHub, it asks only once.
  expect(locationOf(await browser.get(authorize)).searchParams.get("code")).toMatch(/^\S{20,}$/);
});

test("ONB-2 installing on all repositories leads back to the set-up address, a second time as an update", async () => {
  const browser = await signedIn("ben");
  const page = await browser.get(pathOf(forge.gitHub.installUrl("st")));
  expect(await page.text()).toContain("Install Towpath");
  const back = locationOf(await browser.submit("/apps/towpath-test/installations", { state: "st" }));
  expect(back.origin + back.pathname).toBe("http://localhost:3000/api/github/setup");
  expect(Object.fromEntries(back.searchParams)).toEqual({
    installation_id: expect.any(String),
    setup_action: "install",
    state: "st",
  });
  const id = Number(back.searchParams.get("installation_id"));
  const delivery = await forge.hooks.waitFor(
    ({ event }, payload) => event === "installation" && JSON.stringify(payload).includes('"ben"'),
  );
  expect(parseWebhook("installation", delivery.body)).toMatchObject({
    payload: { action: "created", installation: { id, account: { login: "ben" } } },
  });

  expect(await (await browser.get(pathOf(forge.gitHub.installUrl("st")))).text()).toContain("Configure Towpath");
  const again = locationOf(await browser.submit("/apps/towpath-test/installations", { state: "st" }));
  expect(again.searchParams.get("setup_action")).toBe("update");
  expect(again.searchParams.get("installation_id")).toBe(String(id));
  await browser.submit(`/settings/installations/${id}/uninstall`, {});
  await forge.hooks.waitFor(({ event }, payload) => event === "installation" && payload.action === "deleted");
  await expect(forge.gitHub.installation(id)).rejects.toMatchObject({ code: "not_found" });
});

async function codeFor(browser: Browser, more: Record<string, string> = {}): Promise<string> {
  const fields = { client_id: "Iv1.test", decision: "authorize", ...more };
  return locationOf(await browser.submit("/login/oauth/authorize", fields)).searchParams.get("code") ?? "";
}

test("GH-1 a code works once; a second use also revokes the first one's tokens", async () => {
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

test("GH-1 declining goes back with access_denied", async () => {
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
