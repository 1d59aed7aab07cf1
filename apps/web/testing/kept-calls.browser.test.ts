import { seedProject } from "@towpath/core/testing";
import { keptCall, project } from "@towpath/db/schema";
import { writeRequestLogs } from "@towpath/logs";
import { requestLogRow } from "@towpath/logs/testing";
import { eq } from "drizzle-orm";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { expectAccessible, openBrowser } from "./browser.ts";
import { sharedSite } from "./site.ts";
import { type Member, seededMember } from "./visitor.ts";

const site = sharedSite();
const browser = openBrowser();
let page: Page;
let member: Member;
let own: Awaited<ReturnType<typeof seedProject>>;

beforeAll(async () => {
  member = await seededMember(site.url, site.db);
  own = await seedProject(site.db, member.organization);
  page = await browser.signedInPage(site.url, member);
});

test.runIf(isThorough)(
  "CAP-2 the settings say how long results are kept and calls run without their client",
  async () => {
    await page.goto(`${site.url}/${member.organization.slug}/${own.name}/settings#kept-calls`);
    const card = page.locator("#kept-calls");
    await card.getByText("wait for calls under way").waitFor();
    const choose = async (name: string, option: string) => {
      await card.getByRole("combobox", { name }).click();
      const chosen = page.getByRole("option", { name: option, exact: true });
      await chosen.hover();
      // A click that comes before the option is highlighted chooses nothing.
      await chosen.and(page.locator("[data-highlighted]")).click();
    };
    const stored = async () => {
      const [row] = await site.db.select().from(project).where(eq(project.id, own.id));
      return [row?.keepResultsMinutes, row?.unattendedMinutes];
    };
    expect(await stored()).toEqual([10, 60]);
    await choose("Keep results", "1 hour");
    await expect.poll(stored, { timeout: 15_000 }).toEqual([60, 60]);
    await choose("Let calls run without their client", "15 minutes");
    await expect.poll(stored, { timeout: 15_000 }).toEqual([60, 15]);
    await choose("Keep results", "Off");
    await expect.poll(stored, { timeout: 15_000 }).toEqual([0, 15]);
    await card.getByText("Calls end with their connection.").waitFor({ state: "attached" });
    await expectAccessible(page);
  },
);

test("CAP-2 the log shows the state of a result, and finds calls by it", async () => {
  const rows = ["pay", "order"].map((target) => requestLogRow({ projectId: own.id, target }));
  await writeRequestLogs(site.pool, rows);
  const [{ id, time } = { id: "", time: 0 }] = rows;
  const startedAt = new Date(time);
  const expiresAt = new Date(time + 3_600_000);
  await site.db
    .insert(keptCall)
    .values({ id, projectId: own.id, argumentsHash: "", state: "unknown", startedAt, expiresAt });
  await page.goto(`${site.url}/${member.organization.slug}/${own.name}/logs?kept=unknown`);
  const table = page.getByRole("table", { name: "Requests" });
  await table.getByText("pay", { exact: true }).waitFor();
  expect(await table.getByText("order", { exact: true }).count()).toBe(0);
  await table.getByText("result unknown").waitFor();
  await table.getByText("pay", { exact: true }).click();
  await page.getByText("Nobody saw how the call ended").waitFor();
  await page.getByRole("dialog", { name: "tools/call pay" }).waitFor();
  await expectAccessible(page);
});
