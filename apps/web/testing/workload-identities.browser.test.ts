import { startTokenIssuer } from "@towpath/auth/workloads/testing";
import { newId } from "@towpath/core/ids";
import { seedProject } from "@towpath/core/testing";
import { member as memberTable, workloadIdentity } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { expectAccessible, openBrowser } from "./browser.ts";
import { sharedSite } from "./site.ts";
import { type Member, seededMember } from "./visitor.ts";

const site = sharedSite();
const browser = openBrowser();
let owner: Member;
let page: Page;
let keySet: string;

beforeAll(async () => {
  const issuer = await startTokenIssuer();
  keySet = JSON.stringify(await issuer.keySet());
  await issuer.close();
  owner = await seededMember(site.url, site.db);
  await seedProject(site.db, owner.organization, { name: "mild-amber-lynx" });
  page = await browser.signedInPage(site.url, owner);
});

const screen = () => `${site.url}/${owner.organization.slug}/settings/api-keys`;
const section = (on = page) => on.getByRole("region", { name: "Workload identities" });

test.runIf(isThorough)(
  "KEY-6 an owner trusts a cluster for one server, sees why an issuer is refused, and that keys can't be read",
  async () => {
    await page.goto(screen());
    await page.getByText("No workload identities").waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Add workload identity" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Add" }).click();
    await page.getByText("Name is required").waitFor();
    await dialog.getByLabel("Name").fill("Cluster");
    await dialog.getByLabel("Issuer", { exact: true }).fill("https://10.0.0.1");
    await dialog.getByLabel("Subjects").fill("system:serviceaccount:agents:*\nsystem:serviceaccount:jobs:nightly");
    await dialog.getByRole("button", { name: "Add" }).click();
    await dialog.getByText("ask the operator to allow that in TOWPATH_EXTERNAL_NETWORKS").waitFor();
    await expectAccessible(page);
    await dialog.getByLabel("Issuer's keys").click();
    await page.getByRole("option", { name: "Pasted" }).click();
    await dialog.getByLabel("Key set").fill(keySet);
    await dialog.getByLabel("Servers").click();
    await page.getByRole("option", { name: "Selected servers" }).click();
    await page.getByRole("checkbox", { name: "mild-amber-lynx" }).click();
    await dialog.getByRole("button", { name: "Add" }).click();
    await dialog.waitFor({ state: "hidden" });
    const row = section().getByRole("row").filter({ hasText: "Cluster" });
    await expect.poll(() => row.textContent()).toMatch(/system:serviceaccount:agents:\*.*mild-amber-lynx.*Active/);
    await site.db.update(workloadIdentity).set({ problem: "Could not connect to 10.0.0.1." });
    await page.reload();
    await row.getByText("Could not connect to 10.0.0.1.").waitFor();
    await row.getByText("Keys unreadable").waitFor();
    await expectAccessible(page);
  },
);

test.runIf(isThorough)(
  "KEY-6 it is revoked and deleted by keyboard, after a confirmation; members only see it",
  async () => {
    const other = await seededMember(site.url, site.db);
    await site.db.delete(memberTable).where(eq(memberTable.userId, other.userId));
    const organizationId = owner.organization.id;
    await site.db.insert(memberTable).values({ id: newId(), organizationId, userId: other.userId, role: "member" });
    const theirs = await browser.signedInPage(site.url, { ...other, organization: owner.organization });
    await theirs.goto(screen());
    await section(theirs).getByRole("row").filter({ hasText: "Cluster" }).waitFor();
    await expect.poll(() => theirs.getByRole("button", { name: "Add workload identity" }).count()).toBe(0);
    await expect.poll(() => theirs.getByRole("button", { name: "Actions for Cluster" }).count()).toBe(0);

    await page.goto(screen());
    const row = section().getByRole("row").filter({ hasText: "Cluster" });
    const end = async (item: string) => {
      await row.getByRole("button", { name: "Actions for Cluster" }).focus();
      await page.keyboard.press("Enter");
      await page.getByRole("menuitem", { name: item }).waitFor();
      await page.getByRole("menuitem", { name: item }).press("Enter");
      await page.getByText("their open connections end").waitFor();
    };
    await end("Revoke");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    await end("Revoke");
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).press("Enter");
    await row.getByText("Revoked").waitFor();
    await end("Delete");
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).press("Enter");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    await row.waitFor({ state: "detached" });
  },
);
