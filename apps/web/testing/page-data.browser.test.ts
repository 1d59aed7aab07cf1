import { sampleManifest, seedLiveProject } from "@towpath/core/testing";
import { foldRequestLogs, writeRequestLogs } from "@towpath/logs";
import { requestLogRow } from "@towpath/logs/testing";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { openBrowser } from "./browser.ts";
import { sharedSite } from "./site.ts";
import { type Member, seededMember } from "./visitor.ts";

const site = sharedSite();
const browser = openBrowser();
let owner: Member;
let home: string;

beforeAll(async () => {
  owner = await seededMember(site.url, site.db);
  const { id, name } = await seedLiveProject(site.db, owner.organization, {}, { manifest: sampleManifest() });
  await writeRequestLogs(site.pool, [requestLogRow({ projectId: id, organizationId: owner.organization.id })]);
  while ((await foldRequestLogs(site.pool)) > 0);
  home = `${site.url}/${owner.organization.slug}/${name}`;
});

/** The requests for data before a page is shown. Those of the session, and of what a model makes, are no page's data. */
async function dataOf(page: Page, open: () => Promise<void>): Promise<readonly string[]> {
  const asked: string[] = [];
  const record = (request: { url(): string; postData(): string | null }) => {
    const { pathname } = new URL(request.url());
    const names = pathname === "/_serverFn/batch" ? namesOf(request.postData() ?? "[]") : pathname.slice(11);
    if (pathname.startsWith("/_serverFn/") && !/^(session\.|chat\.generate)/.test(names)) asked.push(names);
  };
  page.on("request", record);
  await open();
  page.off("request", record);
  // The page's own refreshes are over before the next one opens.
  await page.waitForTimeout(2000);
  return asked;
}

const namesOf = (batch: string) =>
  (JSON.parse(batch) as string[]).map((url) => url.split("?", 1)[0]?.slice(11)).join(" + ");

test.runIf(isThorough)("CAP-7 from page to page of a server, the data of a page arrives in one response", async () => {
  const page = await browser.signedInPage(site.url, owner);
  // Nothing that repeats is asked for meanwhile.
  await page.clock.install();
  // New rows are notified, for which the log asks once more.
  await page.route("**/request-log-changes*", () => {});
  // The branches, which are known from then on.
  await page.goto(`${home}/deployments`);
  await page.waitForTimeout(2000);
  await page.clock.pauseAt(Date.now() + 60_000);
  // What was due until then.
  await page.waitForTimeout(3000);
  const found: Record<string, readonly string[]> = {};
  for (const [name, shown] of [
    ["Try it", page.getByRole("button", { name: "Call tool" })],
    ["Chat", page.getByRole("heading", { name: "Suggested questions" })],
    ["Logs", page.getByRole("table", { name: "Requests" })],
    ["Sessions", page.getByRole("table", { name: "Sessions" })],
    ["Settings", page.getByRole("form", { name: "Add environment variables" })],
    ["Overview", page.getByText("Median", { exact: true })],
    ["Deployments", page.getByText("Production, previews, and the builds behind them.")],
  ] as const)
    found[name] = await dataOf(page, async () => {
      // Without a pointer, which would load the data ahead.
      await page.getByRole("link", { name, exact: true }).first().dispatchEvent("click");
      await shown.first().waitFor();
    });
  expect(Object.entries(found).filter(([, asked]) => asked.length > 1)).toEqual([]);
  expect(found.Logs).toEqual(["request-log.queryLogs + request-log.getLogStats + request-log.getLogValues"]);
});
