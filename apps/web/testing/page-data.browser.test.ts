import { sampleManifest, seedLiveProject } from "@towpath/core/testing";
import { foldRequestLogs, writeRequestLogs } from "@towpath/logs";
import { requestLogRow } from "@towpath/logs/testing";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
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

/** Requests for data until the page stands still. Those of the session and of what repeats are no page's data. */
async function dataOf(page: Page, open: () => Promise<void>): Promise<readonly string[]> {
  const asked: string[] = [];
  const record = (request: { url(): string; postData(): string | null }) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith("/_serverFn/") && !pathname.startsWith("/_serverFn/session."))
      asked.push(pathname === "/_serverFn/batch" ? namesOf(request.postData() ?? "[]") : pathname.slice(11));
  };
  page.on("request", record);
  await open();
  await page.waitForTimeout(1500);
  page.off("request", record);
  return asked;
}

const namesOf = (batch: string) =>
  (JSON.parse(batch) as string[]).map((url) => url.split("?", 1)[0]?.slice(11)).join(" + ");

test("CAP-7 from page to page of a server, the data of a page arrives in one response", async () => {
  const page = await browser.signedInPage(site.url, owner);
  await page.goto(home);
  const found: Record<string, readonly string[]> = {};
  for (const [name, title] of [
    ["Try it", "Inspector"],
    ["Chat", "Chat"],
    ["Logs", "Logs"],
    ["Sessions", "Sessions"],
    ["Deployments", "Deployments"],
    ["Settings", "Settings"],
    ["Overview", "Overview"],
  ] as const)
    found[title] = await dataOf(page, async () => {
      // Without a pointer, which would load the data ahead.
      await page.getByRole("link", { name, exact: true }).first().dispatchEvent("click");
      await page
        .getByRole("heading", { level: 1 })
        .filter({ hasText: title === "Overview" ? "" : title })
        .first()
        .waitFor();
    });
  expect(Object.entries(found).filter(([, asked]) => asked.length > 1)).toEqual([]);
});
