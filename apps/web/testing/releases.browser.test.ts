import { newId } from "@towpath/core/ids";
import { seedLiveProject, seedLiveVersion, shaOf } from "@towpath/core/testing";
import { deploymentApproval, gradualRelease, member, releasePolicy, route } from "@towpath/db/schema";
import { writeRequestLogs } from "@towpath/logs";
import { requestLogRow } from "@towpath/logs/testing";
import { and, eq } from "drizzle-orm";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { expectAccessible, expectAccessibleInBothThemes, openBrowser } from "./browser.ts";
import { sharedSite } from "./site.ts";
import { type Member, seededMember } from "./visitor.ts";

const site = sharedSite();
const browser = openBrowser();
let page: Page;
let owner: Member;

beforeAll(async () => {
  owner = await seededMember(site.url, site.db);
  page = await browser.signedInPage(site.url, owner);
});

/** A server with a live version and a newer one that isn't. */
async function seedTwoVersions() {
  const { db } = site;
  const own = await seedLiveProject(db, owner.organization);
  const [live] = await db.select().from(route).where(eq(route.projectId, own.id));
  const stable = live?.deploymentId ?? "";
  const newer = await seedLiveVersion(db, own, {
    label: own.name.toLowerCase(),
    sequence: 2,
    commitSha: shaOf("newer"),
    commitMessage: "Answer faster",
  });
  await db.update(route).set({ deploymentId: stable, sequence: 1 }).where(eq(route.projectId, own.id));
  return { ...own, stable, newer, here: `${site.url}/${owner.organization.slug}/${own.name}` };
}

async function seedRelease() {
  const own = await seedTwoVersions();
  const at = new Date(Date.now() - 3 * 60_000);
  await site.db.insert(gradualRelease).values({
    id: newId(),
    projectId: own.id,
    branchId: own.branchId,
    stableDeploymentId: own.stable,
    candidateDeploymentId: own.newer.deploymentId,
    steps: [5, 25, 50],
    share: 5,
    minutesPerStep: 15,
    maxErrorPoints: 2,
    maxLatencyFactor: 1.5,
    minCalls: 20,
    hasSessions: true,
    // A running worker would judge it.
    startedAt: at,
    stepStartedAt: at,
    nextCheckAt: new Date(Date.now() + 3_600_000),
  });
  const row = (deploymentId: string, more: object = {}) =>
    requestLogRow({ organizationId: owner.organization.id, projectId: own.id, deploymentId, ...more });
  await writeRequestLogs(site.pool, [
    ...Array.from({ length: 40 }, () => row(own.stable, { durationMs: 20 })),
    ...Array.from({ length: 5 }, () => row(own.newer.deploymentId, { durationMs: 30 })),
    row(own.newer.deploymentId, { isError: true, outcome: "tool_error" }),
  ]);
  return own;
}

const panel = () => page.getByLabel("Gradual release");
const version = shaOf("newer").slice(0, 7);

test("CAP-8 a release is watched on Overview and Deployments, moved to its next step, and taken back", async () => {
  const { here, id } = await seedRelease();
  await page.goto(here);
  await panel()
    .getByRole("heading", { name: `5 % of new sessions get ${version}` })
    .waitFor();
  await panel().getByText("25 % of new sessions in 12 minutes if the new version has had 20 calls by then.").waitFor();
  const figures = panel().getByRole("table", { name: "Both versions in this step" }).getByRole("row");
  await expect.poll(() => figures.nth(1).textContent()).toMatch(/Live version.*40.*0/);
  await expect.poll(() => figures.nth(2).textContent()).toMatch(/New version.*6.*1 \(16\.7 %\)/);
  await expectAccessibleInBothThemes(page);
  await page.goto(`${here}/deployments`);
  await page.getByRole("table", { name: "Builds" }).getByText("5 % of new sessions").waitFor();
  await panel().getByRole("button", { name: "Next step" }).click();
  await panel()
    .getByRole("heading", { name: `25 % of new sessions get ${version}` })
    .waitFor();
  await panel().getByRole("button", { name: "Go back" }).click();
  await page.getByText(`Went back from ${version}`).waitFor();
  await page.getByText("Somebody chose to go back.").first().waitFor();
  await expectAccessible(page);
  const [ended] = await site.db.select().from(gradualRelease).where(eq(gradualRelease.projectId, id));
  expect(ended).toMatchObject({ state: "went-back", share: 0 });
});

test.runIf(isThorough)(
  "CAP-8 PRJ-5 the log names the version that answered, and the figures lead to one version's calls",
  async () => {
    const { here } = await seedRelease();
    await page.goto(here);
    await panel()
      .getByRole("link", { name: `6 calls of ${version} in the log` })
      .click();
    await page.waitForURL(/\/logs\?/);
    const rows = page.getByRole("table", { name: "Requests" }).getByRole("row");
    await expect.poll(() => rows.count()).toBe(7);
    await page.goto(`${here}/logs`);
    await page.getByRole("table", { name: "Requests" }).getByText(version).first().waitFor();
  },
);

test("CAP-8 viewers see a release, and no buttons", async () => {
  const { here } = await seedRelease();
  const setRole = (role: string) =>
    site.db.update(member).set({ role }).where(eq(member.organizationId, owner.organization.id));
  await setRole("viewer");
  await page.goto(here);
  await panel().getByRole("table", { name: "Both versions in this step" }).waitFor();
  expect(await panel().getByRole("button").count()).toBe(0);
  await setRole("owner");
});

test.runIf(isThorough)(
  "CAP-8 how versions are released is set on the settings page, and what is out of bounds is named",
  async () => {
    const { here, id } = await seedTwoVersions();
    await page.goto(`${here}/settings#releases`);
    const form = page.getByRole("form", { name: "Releases" });
    await form.getByRole("switch", { name: "Release gradually" }).click();
    await form.getByLabel("Minutes a step").fill("0");
    await form.getByRole("radio", { name: "Owners", exact: true }).click();
    await form.getByRole("button", { name: "Save releases" }).click();
    await form.getByText("Minutes a step must be 1 or more").waitFor();
    await form.getByLabel("Minutes a step").fill("30");
    await page.keyboard.press("Enter");
    await form.getByText("Saved. It applies to the next build.").waitFor();
    await expectAccessible(page);
    const [stored] = await site.db.select().from(releasePolicy).where(eq(releasePolicy.projectId, id));
    expect(stored).toMatchObject({ isGradual: true, minutesPerStep: 30, approval: "owner" });
  },
);

test.runIf(isThorough)(
  "CAP-8 a deployment that waits for an approval says so everywhere, and goes live with it",
  async () => {
    const { here, id, newer } = await seedTwoVersions();
    await site.db.insert(releasePolicy).values({ projectId: id, approval: "admin" });
    const waiting = { deploymentId: newer.deploymentId, projectId: id, isGradual: false, requestedAt: new Date() };
    await site.db.insert(deploymentApproval).values(waiting);
    await page.goto(here);
    await page.getByText("A new version waits for approval").waitFor();
    await expectAccessible(page);
    expect(await page.getByRole("link", { name: "Review it" }).getAttribute("href")).toContain("/build-logs/");
    await page.goto(`${here}/deployments`);
    await page.getByRole("table", { name: "Builds" }).getByText("Waits for approval").waitFor();
    await page.getByRole("link", { name: "Answer faster" }).first().click();
    await page.getByText("It goes live once an admin of this organization has approved it.").waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByRole("heading", { name: /^Live/ }).waitFor();
    const isLive = and(eq(route.projectId, id), eq(route.deploymentId, newer.deploymentId));
    expect(await site.db.$count(route, isLive)).toBe(1);
  },
);
