import { seedProject } from "@towpath/core/testing";
import { callLimit, member } from "@towpath/db/schema";
import { writeRequestLogs } from "@towpath/logs";
import { requestLogRow } from "@towpath/logs/testing";
import { and, eq } from "drizzle-orm";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { expectAccessible, expectAccessibleInBothThemes, openBrowser } from "./browser.ts";
import { sharedSite } from "./site.ts";
import { callServerFunction, type Member, seededMember } from "./visitor.ts";

const site = sharedSite();
const browser = openBrowser();
let page: Page;
let owner: Member;
let own: Awaited<ReturnType<typeof seedProject>>;

beforeAll(async () => {
  owner = await seededMember(site.url, site.db);
  own = await seedProject(site.db, owner.organization);
  page = await browser.signedInPage(site.url, owner);
});

const projectUrl = () => `${site.url}/${owner.organization.slug}/${own.name}`;
const goTo = () => page.goto(`${projectUrl()}/limits`);
const stored = async () => (await site.db.select().from(callLimit).where(eq(callLimit.projectId, own.id)))[0] ?? null;
const group = (name: string) => page.getByRole("radiogroup", { name });
const lowerLimit = (name: string) => group(name).getByRole("radio", { name: /^A lower limit/ });
const save = () => page.getByRole("button", { name: "Save limits" }).click();

test("GW-8 at first the page shows the instance's limits, and that nothing was refused", async () => {
  await goTo();
  await page.getByText("6,000 calls a minute, at most 1,000 at once.").waitFor();
  await page.getByText("Limits refused no calls in the last hour.").waitFor();
  await page
    .getByText("All servers of this organization together accept 60,000 calls a minute, at most 6,000 at once.")
    .waitFor();
  await expect.poll(() => page.getByLabel("Calls a minute").count()).toBe(0);
  await expectAccessible(page);
  await expect.poll(() => stored()).toBeNull();
});

test("GW-8 by keyboard: a lower limit is set, saved, shown again and given up", async () => {
  await lowerLimit("Each caller").focus();
  await page.keyboard.press("Space");
  await page.getByLabel("Calls a minute").fill("30");
  await page.getByText("Counted per person, per API key, or per IP address when nobody signs in.").waitFor();
  const warning = page.getByText("allow at least 5 a minute and at once");
  await page.getByLabel("Calls at once").fill("4");
  await warning.waitFor();
  await page.getByLabel("Calls at once").fill("5");
  await warning.waitFor({ state: "detached" });
  await page.keyboard.press("Enter");
  await page.getByText("Saved. It applies within seconds.").waitFor();
  await expect.poll(() => stored()).toMatchObject({ callerPerMinute: 30, callerBurst: 5, serverPerMinute: null });
  await goTo();
  await expect.poll(() => page.getByLabel("Calls a minute").inputValue(), { timeout: 15_000 }).toBe("30");
  await expectAccessibleInBothThemes(page);
  await group("Each caller")
    .getByRole("radio", { name: /^As the instance allows/ })
    .click();
  await save();
  await page.getByText("Saved. It applies within seconds.").waitFor();
  await expect.poll(() => stored()).toMatchObject({ callerPerMinute: null, callerBurst: null });
});

test.runIf(isThorough)(
  "GW-8 more than the instance allows is refused at its field, and another's change is not overwritten",
  async () => {
    await goTo();
    await lowerLimit("All callers together").click();
    await page.getByLabel("Calls a minute").fill("30001");
    await save();
    await page.getByText("This instance allows 30,000 at most.").waitFor();
    await expect.poll(() => page.getByLabel("Calls a minute").getAttribute("aria-invalid")).toBe("true");
    const warning = page.getByText("allow at least 5 a minute and at once");
    await expect.poll(() => warning.count()).toBe(0);
    await page.getByLabel("Calls a minute").fill("4");
    await warning.waitFor();
    await page.getByLabel("Calls a minute").fill("many");
    await warning.waitFor({ state: "detached" });
    await save();
    await page.getByText("Calls a minute must be a number").waitFor();
    await expectAccessible(page);
    const data = { orgSlug: owner.organization.slug, projectName: own.name, caller: null, server: null };
    expect((await callServerFunction(owner.visitor, "limits.saveLimits", "POST", data)).status).toBe(200);
    await page.getByLabel("Calls a minute").fill("300");
    await save();
    await page.getByRole("alert").getByText("Someone else just changed these limits").waitFor();
    await expect.poll(() => stored()).toMatchObject({ serverPerMinute: null });
  },
);

test.runIf(isThorough)(
  "GW-8 calls refused by limits are counted here and above the log, and one click shows them there",
  async () => {
    const refused = { projectId: own.id, isError: true, outcome: "gateway_error", httpStatus: 429 } as const;
    const message = "Rate limit reached (30 a minute, 10 at once for each caller, set under Limits). Try again in 2 s.";
    await writeRequestLogs(site.pool, [
      requestLogRow({ projectId: own.id, target: "fine" }),
      requestLogRow({ ...refused, target: "limited_tool", refusal: "caller_rate_limited", errorMessage: message }),
      requestLogRow({ ...refused, target: "limited_tool", refusal: "caller_rate_limited", errorMessage: message }),
      requestLogRow({ ...refused, httpStatus: 401, target: "unsigned_tool", errorMessage: "Sign in." }),
    ]);
    await goTo();
    await page.getByText("2 calls were refused by limits in the last hour.").waitFor();
    await expectAccessible(page);
    await page.getByRole("link", { name: "Show them in the log" }).click();
    const rows = page.getByRole("row").filter({ hasText: "_tool" });
    await expect.poll(() => rows.count(), { timeout: 15_000 }).toBe(2);
    await page.goto(`${projectUrl()}/logs`);
    await page.getByText("Refused by limits", { exact: true }).waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Show them (refused by limits)" }).click();
    await expect.poll(() => rows.count(), { timeout: 15_000 }).toBe(2);
    await expect.poll(() => rows.filter({ hasText: "limited_tool" }).count()).toBe(2);
  },
);

test("GW-8 UI-5 the page fits 360 pixels; members see it without being able to change it", async () => {
  const where = and(eq(member.organizationId, owner.organization.id), eq(member.userId, owner.userId));
  await site.db.update(member).set({ role: "viewer" }).where(where);
  await page.setViewportSize({ width: 360, height: 800 });
  await goTo();
  await page.getByText("Only owners and admins of this organization can change its servers' limits.").waitFor();
  await expect.poll(() => page.getByRole("button", { name: "Save limits" }).count()).toBe(0);
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  await expectAccessible(page);
});
