import { member } from "@towpath/db/schema";
import { and, eq } from "drizzle-orm";
import type { Page } from "playwright-core";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { newPage, openBrowser, passTimeUntil, signIn, untilHydrated } from "./browser.ts";
import { sharedSite } from "./site.ts";
import { type Member, seededMember } from "./visitor.ts";

// Answers that the site gets from proxies or half-dead servers, put between the browser and the site.

const site = sharedSite();
const browser = openBrowser();
let owner: Member;
let page: Page;

beforeAll(async () => {
  owner = await seededMember(site.url, site.db);
});
beforeEach(async () => {
  const context = await browser.newContext();
  await signIn(context, site.url, owner);
  page = await newPage(context);
});
afterEach(() => page.context().close());

const to = (path: string) => `${site.url}/${owner.organization.slug}/${path}`;
const open = async (tab: Page, url: string) => {
  await tab.goto(url);
  await untilHydrated(tab);
};
type Answer = Parameters<Parameters<Parameters<Page["route"]>[1]>[0]["fulfill"]>[0];
const answer = (functionName: string, with_: Answer) =>
  page.route(new RegExp(functionName.replace(".", "\\.")), (route) => route.fulfill(with_));
const framed = { "content-type": "application/x-tss-framed; v=1", "x-tss-serialized": "true" };

test.each([
  ["Stream ended before first object", { status: 200, headers: framed, body: "" }],
  ["The lock gate is stuck.", { status: 502, contentType: "text/plain", body: "The lock gate is stuck." }],
])("ERR-5 UI-1 a call whose answer is broken shows %s", async (text, with_) => {
  await open(page, to("welcome/server-setup"));
  await answer("onboarding.proposeServerName", with_);
  await page.getByRole("button", { name: "Suggest another name" }).click();
  await page.locator("[data-sonner-toast]").getByText(text).waitFor();
  await page.unroute(/proposeServerName/);
});

test("ERR-5 an answer without a body shows No response body", async () => {
  await open(page, to("welcome/server-setup"));
  await page.evaluate((headers) => {
    const real = globalThis.fetch;
    globalThis.fetch = (input, init) =>
      String(input).includes("proposeServerName")
        ? Promise.resolve(new Response(null, { headers }))
        : real(input, init);
  }, framed);
  await page.getByRole("button", { name: "Suggest another name" }).click();
  await page.locator("[data-sonner-toast]").getByText("No response body").waitFor();
});

test("ERR-5 ERR-1 a refusal that the server has serialized is thrown as it was", async () => {
  const left = await seededMember(site.url, site.db);
  const context = await browser.newContext();
  await signIn(context, site.url, left);
  const theirs = await newPage(context);
  // No other call may be refused first, not even a running one: the page would show that access is lost.
  await theirs.route(/_serverFn\/(?!.*proposeServerName)/, () => {});
  await open(theirs, `${site.url}/${left.organization.slug}/welcome/server-setup`);
  const { id: organizationId } = left.organization;
  await site.db.delete(member).where(and(eq(member.userId, left.userId), eq(member.organizationId, organizationId)));
  const refused = theirs.waitForResponse(/proposeServerName/);
  await theirs.getByRole("button", { name: "Suggest another name" }).click();
  expect([(await refused).status(), (await refused).headers()["x-tss-serialized"]]).toEqual([403, "true"]);
  await theirs.getByText("Forbidden: you are not a member of this organization").waitFor();
  await context.close();
});

test.runIf(isThorough)("ERR-5 a redirect and a not-found in a JSON answer are followed and shown", async () => {
  await open(page, to("settings/api-keys"));
  const json = (body: unknown) => ({ status: 200, contentType: "application/json", body: JSON.stringify(body) });
  await answer("servers.getServers", json({ isSerializedRedirect: true, href: "/account", to: "/account" }));
  await page.getByRole("link", { name: "Servers", exact: true }).first().click();
  await page.waitForURL("**/account");

  await page.unroute(/servers\.getServers/);
  await open(page, to("settings/api-keys"));
  await answer("servers.getServers", json({ isNotFound: true }));
  await page.getByRole("link", { name: "Servers", exact: true }).first().click();
  await page.getByText("The page you're looking for doesn't exist.").waitFor();
});

test.runIf(isThorough)(
  "ERR-1 ERR-2 ERR-3 a page whose data can't be loaded shows the screen for its failure",
  async () => {
    await page.clock.install();
    for (const [status, body, text] of [
      [500, "Forbidden by the proxy", "You don't have permission to access this team's resources."],
      [500, "Not Found here", "The page you're looking for doesn't exist."],
      [500, "the sluice is open", "An unexpected error occurred while loading this page."],
    ] as const) {
      await open(page, to("settings/api-keys"));
      await answer("servers.getServers", { status, contentType: "text/plain", body });
      await page.getByRole("link", { name: "Servers", exact: true }).first().click();
      await passTimeUntil(page, page.getByText(text));
      const home = page.getByRole("link", { name: "Return Home" });
      await expect.poll(async () => [text, await home.getAttribute("href")]).toEqual([text, "/"]);
      await page.unroute(/servers\.getServers/);
    }
  },
);

test("ERR-4 a page that fails to render shows Something went wrong!, and its error on demand", async () => {
  await open(page, to("settings/api-keys"));
  // Members that are no list: reading them succeeds, showing them fails.
  const body = JSON.stringify({ result: { weir: "broken" } });
  await answer("members.getMembers", { status: 200, contentType: "application/json", body });
  await page.getByRole("link", { name: "Members", exact: true }).click();
  await page.getByRole("heading", { name: "Something went wrong!" }).waitFor();
  const error = page.getByText(/is not (a function|iterable)/);
  await expect.poll(() => error.count()).toBe(0);
  await page.getByRole("button", { name: "Show Error" }).click();
  await error.waitFor();
  await page.getByRole("button", { name: "Hide Error" }).click();
  await error.waitFor({ state: "detached" });
});

/**
 * Opens a page of the settings with a stopped clock, and delays the servers list until the returned function is called.
 */
async function heldServers(): Promise<{ readonly asked: () => number; readonly release: () => void }> {
  await page.clock.install();
  await open(page, to("settings/api-keys"));
  await page.clock.pauseAt(Date.now() + 60 * 60_000);
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let asked = 0;
  await page.route(/servers\.getServers/, async (route) => {
    asked += 1;
    await released;
    await route.continue();
  });
  return { asked: () => asked, release: () => release() };
}
const serversLink = () => page.getByRole("link", { name: "Servers", exact: true }).first();

test("UI-3 a link is preloaded when the pointer has been over it for 50 ms", async () => {
  const held = await heldServers();
  await serversLink().hover();
  await page.clock.runFor(40);
  expect(held.asked()).toBe(0);
  await page.clock.runFor(20);
  await expect.poll(held.asked).toBe(1);
  held.release();
});

test("UI-3 the pending view comes after 1000 ms and stays for 500", async () => {
  const held = await heldServers();
  await serversLink().dispatchEvent("click");
  const pending = page.getByRole("status", { name: "Loading servers" });
  const countAfter = async (ms: number) => {
    await page.clock.runFor(ms);
    return await pending.count();
  };
  await expect.poll(held.asked).toBe(1);
  expect(await countAfter(900)).toBe(0);
  // In small steps: the page's script can arrive later than that, and the view stays from then on.
  await expect.poll(() => countAfter(20)).toBe(1);
  const answered = page.waitForResponse(/servers\.getServers/);
  held.release();
  await (await answered).finished();
  expect(await countAfter(300)).toBe(1);
  await expect.poll(() => countAfter(100)).toBe(0);
});
