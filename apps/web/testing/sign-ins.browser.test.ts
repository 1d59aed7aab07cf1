import { createHash, randomBytes } from "node:crypto";
import { seedExternalRoute, seedProject } from "@towpath/core/testing";
import { member } from "@towpath/db/schema";
import { SignInRecorder } from "@towpath/logs";
import { eq } from "drizzle-orm";
import type { Page } from "playwright-core";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { expectAccessibleInBothThemes, openBrowser } from "./browser.ts";
import { sharedSite } from "./site.ts";
import { callServerFunction, type Member, seededMember, type Visitor } from "./visitor.ts";

// Steps at the gateway are recorded here as it records them; its own are in gateway.sign-ins.test.ts, and both together in
// the end-to-end tests.
const site = sharedSite();
const browser = openBrowser();
const redirectUri = "https://app.example/callback";
const codeVerifier = randomBytes(32).toString("base64url");
let owner: Member;
let server: { readonly id: string; readonly name: string; readonly resource: string };
const address = () => `${site.url}/${owner.organization.slug}/${server.name}/sign-ins`;

beforeAll(async () => {
  owner = await seededMember(site.url, site.db);
});
beforeEach(async () => {
  const { id, name } = await seedProject(site.db, owner.organization, { authMode: "towpath-cloud" });
  await seedExternalRoute(site.db, id, name);
  server = { id, name, resource: `http://localhost:8080/${name}/mcp` };
});

/** Makes the request that gateways record of a client before it registers. */
async function callGateway(agent: string): Promise<void> {
  const recorder = new SignInRecorder({ pool: site.pool, onProblem: () => {} });
  for (const kind of ["challenge", "resource_metadata"] as const) {
    const who = { address: "127.0.0.1", agent, isProven: false, projectId: server.id };
    recorder.record({ ...who, kind, problem: null });
  }
  await recorder.stop(2000);
}

/** Registers a client as its program does. */
async function register(name: string, agent = "test-sdk/1.0"): Promise<string> {
  const metadata = { client_name: name, redirect_uris: [redirectUri], token_endpoint_auth_method: "none" };
  const headers = { "user-agent": agent };
  const answer = await fetch(`${site.url}/oauth/register`, { method: "POST", headers, body: JSON.stringify(metadata) });
  return ((await answer.json()) as { client_id: string }).client_id;
}

/** Sends somebody's browser to the authorization endpoint. Returns the consent page's request, if there is one. */
async function authorize(visitor: Visitor, clientId: string, more: Record<string, string> = {}): Promise<string> {
  const parameters = new URLSearchParams({
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: "code",
    state: "s1",
    resource: server.resource,
    code_challenge: createHash("sha256").update(codeVerifier).digest("base64url"),
    code_challenge_method: "S256",
    ...more,
  });
  const answer = await visitor.get(`/oauth/authorize?${parameters}`);
  const consent = answer.headers.get("location") ?? "";
  if (consent.startsWith("/oauth/consent")) await visitor.get(consent);
  return new URL(consent || "/", site.url).searchParams.get("request") ?? "";
}

const answerConsent = async (visitor: Visitor, request: string, answer: "approveConsent" | "denyConsent") =>
  (await callServerFunction(visitor, `oauth.${answer}`, "POST", { request })).text;

const exchange = (clientId: string, code: string, verifier = codeVerifier) =>
  fetch(`${site.url}/oauth/token`, {
    method: "POST",
    headers: { "user-agent": "test-sdk/1.0" },
    body: new URLSearchParams({
      grant_type: "authorization_code",
      client_id: clientId,
      code,
      code_verifier: verifier,
    }),
  });

const cardOf = (page: Page, name: string) => page.getByRole("region", { name });

test.runIf(isThorough)(
  "GW-5 the empty page says how to try, and an attempt appears on it while it happens, with its reason",
  async () => {
    const page = await browser.signedInPage(site.url, owner);
    await page.goto(address());
    await page.getByRole("heading", { name: "No client has tried to connect yet" }).waitFor();
    await expect.poll(() => page.getByRole("main").textContent()).toContain(server.resource);
    await expectAccessibleInBothThemes(page);

    await callGateway("test-sdk/1.0");
    await page.getByText("In progress").waitFor();
    const clientId = await register("Moved app");
    await authorize(owner.visitor, clientId, { redirect_uri: "https://elsewhere.example/callback" });
    const card = cardOf(page, "Moved app");
    await card.getByText("Failed: The client asked to return to an address it did not register").waitFor();
    const steps = card.getByRole("list", { name: "Steps" }).getByRole("listitem");
    const stateOf = (text: string) => /, (done|failed|next|not reached)/.exec(text)?.[1];
    await expect
      .poll(async () => (await steps.allTextContents()).map(stateOf))
      .toEqual([...Array(4).fill("done"), "failed", ...Array(4).fill("not reached")]);
    await expect.poll(() => steps.nth(4).textContent()).toContain("elsewhere.example");
    await expectAccessibleInBothThemes(page);
  },
);

test("GW-5 declined, a stranger, a wrong verifier and a used code each have their reason, and what to do", async () => {
  const stranger = await seededMember(site.url, site.db);
  const declined = await register("Declined app", "declined/1");
  await answerConsent(owner.visitor, await authorize(owner.visitor, declined), "denyConsent");
  await authorize(stranger.visitor, await register("Stranger's app", "stranger/1"));
  const mixed = await register("Mixed app", "mixed/1");
  const approved = await answerConsent(owner.visitor, await authorize(owner.visitor, mixed), "approveConsent");
  await exchange(mixed, /[?&]code=([\w-]+)/.exec(approved)?.[1] ?? "", "x".repeat(43));
  const twice = await register("Twice app", "twice/1");
  const again = await answerConsent(owner.visitor, await authorize(owner.visitor, twice), "approveConsent");
  for (let count = 0; count < 2; count++) await exchange(twice, /[?&]code=([\w-]+)/.exec(again)?.[1] ?? "");
  const page = await browser.signedInPage(site.url, owner);
  await page.goto(address());
  for (const [name, reason, remedy] of [
    ["Declined app", "The person declined", "choose Allow"],
    ["Stranger's app", "Someone outside this organization signed in", "Invite the person"],
    ["Mixed app", "The client's PKCE verifier does not match", "Connect again"],
    ["Twice app", "The client sent the same code twice", "A code works once"],
  ] as const) {
    await cardOf(page, name).getByText(reason).first().waitFor();
    await cardOf(page, name).getByText(remedy).waitFor();
  }
  const mine = await site.pool.query(`SELECT email FROM "user" WHERE id = ANY ($1::uuid[]) ORDER BY id = $2 DESC`, [
    [owner.userId, stranger.userId],
    owner.userId,
  ]);
  const text = (await page.getByRole("main").textContent()) ?? "";
  expect(text).toContain(mine.rows[0].email);
  expect(text).not.toContain(mine.rows[1].email);
});

test("GW-5 attempts open and close by keyboard, and a hostile name is text", async () => {
  const name = `<img src=x onerror="document.title='run'">`;
  await authorize(owner.visitor, await register(name), { code_challenge_method: "plain" });
  const page = await browser.signedInPage(site.url, owner);
  await page.goto(address());
  await page.getByText("Failed: The client does not use PKCE").waitFor();
  await expect
    .poll(async () => [await page.locator("main img").count(), await page.title()])
    .toEqual([0, `Sign-ins · ${server.name} · Towpath`]);
  const steps = page.getByRole("list", { name: "Steps" });
  await expect.poll(() => steps.isVisible()).toBe(true);
  await page.locator("summary").focus();
  await page.keyboard.press("Enter");
  await expect.poll(() => steps.isVisible()).toBe(false);
  await page.keyboard.press("Space");
  await expect.poll(() => steps.isVisible()).toBe(true);
});

test("GW-5 AUTH-4 viewers are refused, members see no network, and other organizations find nothing", async () => {
  await callGateway("someone/1");
  const read = async ({ visitor }: Member) => {
    const data = { orgSlug: owner.organization.slug, projectName: server.name };
    return (await callServerFunction(visitor, "sign-ins.getSignIns", "GET", data)).text;
  };
  const colleague = await seededMember(site.url, site.db);
  expect(await read(colleague)).toContain("not_found");
  const mine = eq(member.userId, colleague.userId);
  await site.db.update(member).set({ organizationId: owner.organization.id, role: "viewer" }).where(mine);
  expect(await read(colleague)).toContain("forbidden");
  await site.db.update(member).set({ role: "member" }).where(mine);
  const [asMember, asOwner] = [await read(colleague), await read(owner)];
  expect([asMember.includes("someone/1"), asMember.includes("loopback")]).toEqual([true, false]);
  expect(asOwner).toContain("loopback");
});

test("GW-5 OPS-4 the same by REST for the operator", async () => {
  await callGateway("rest/1");
  const headers = { authorization: `Bearer ${site.operatorToken}` };
  const answer = await fetch(`${site.url}/api/v1/projects/${server.name}/sign-ins`, { headers });
  expect(await answer.json()).toMatchObject({
    leftOut: 0,
    attempts: [{ state: "waiting", agent: "rest/1", endedAt: "resource_metadata", explanation: null }],
  });
  expect((await fetch(`${site.url}/api/v1/projects/not-there-at-all/sign-ins`, { headers })).status).toBe(404);
});
