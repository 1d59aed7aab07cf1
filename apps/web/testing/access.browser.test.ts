import { startBuild } from "@towpath/core/delivery/build";
import { sampleManifest, sampleTool, seedProject, shaOf, succeedBuild, testContext } from "@towpath/core/testing";
import { build, member } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import type { BrowserContext, Page } from "playwright-core";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import {
  expectAccessible,
  expectAccessibleInBothThemes,
  newPage,
  openBrowser,
  passTimeUntil,
  signIn as signInBrowser,
} from "./browser.ts";
import { sharedSite } from "./site.ts";
import { type Member, seededMember } from "./visitor.ts";

const site = sharedSite();
const browser = openBrowser();
let context: BrowserContext;
let page: Page;
let owner: Member;
let viewer: Member;
let project: { readonly name: string; readonly buildId: string };

beforeAll(async () => {
  owner = await seededMember(site.url, site.db);
  viewer = await seededViewer();
  project = await liveProject();
});
beforeEach(async () => {
  await context?.close();
  context = await browser.newContext();
  page = await newPage(context);
});

/** A user who is a viewer of the owner's organization and a member of no other. */
async function seededViewer(): Promise<Member> {
  const viewer = await seededMember(site.url, site.db);
  await site.db
    .update(member)
    .set({ organizationId: owner.organization.id, role: "viewer" })
    .where(eq(member.userId, viewer.userId));
  return viewer;
}

/** A project with one live build of a server that has one tool. */
async function liveProject() {
  const { db } = site;
  const { id, name } = await seedProject(db, owner.organization);
  const ctx = testContext(db, owner.organization.owner);
  const input = { orgSlug: owner.organization.slug, projectName: name, commitSha: shaOf("a") };
  const { build: started } = await startBuild({ ctx, input });
  await succeedBuild(db, started.id);
  const inputSchema = { type: "object", properties: { to: { type: "string" } }, required: ["to"] };
  const manifest = sampleManifest({ tools: [sampleTool("send_mail", { description: "Sends a mail.", inputSchema })] });
  await db.update(build).set({ manifest }).where(eq(build.projectId, id));
  return { name, buildId: started.id };
}

const signIn = (somebody: Member) => signInBrowser(context, site.url, somebody);

const address = (screen: string) => `${site.url}/${owner.organization.slug}/${project.name}/${screen}`;

test.runIf(isThorough)("PRJ-4 a viewer sees what a server offers, and why the buttons are disabled", async () => {
  await signIn(viewer);
  await page.goto(address("inspector"));
  const call = page.getByRole("button", { name: "Call tool" });
  await call.waitFor();
  await expect.poll(() => call.isDisabled()).toBe(true);
  const reason = await call.getAttribute("aria-describedby");
  await expect
    .poll(() => page.locator(`[id="${reason}"]`).textContent())
    .toContain("Ask an owner or admin of this organization to allow your role");
  await expectAccessibleInBothThemes(page);
});

test.runIf(isThorough)("PRJ-13 a viewer is offered nothing that the role doesn't allow", async () => {
  await signIn(viewer);
  await page.goto(address("deployments"));
  await page.getByText("Production is live").waitFor();
  await expect.poll(() => page.getByRole("button", { name: "Rebuild" }).count()).toBe(0);
  await page.getByRole("button", { name: /^Actions for build/ }).click();
  await expect.poll(() => page.getByRole("menuitem").allTextContents()).toEqual(["Build log", "Server log"]);
  await page.keyboard.press("Escape");
  await page.goto(address(`build-logs/${project.buildId}`));
  await page.getByText("Build log", { exact: true }).first().waitFor();
  await expect.poll(() => page.getByRole("button", { name: "Rebuild" }).count()).toBe(0);
  await page.goto(`${site.url}/${owner.organization.slug}/servers`);
  await page.getByRole("link", { name: project.name }).waitFor();
  await expect.poll(() => page.getByRole("link", { name: "New server" }).count()).toBe(0);
  const navigation = page.getByRole("navigation", { name: "Organization" });
  await navigation.getByRole("link", { name: "Servers" }).waitFor();
  for (const name of ["API keys", "Instance", "General"])
    await expect.poll(async () => [name, await navigation.getByRole("link", { name }).count()]).toEqual([name, 0]);
  await expectAccessibleInBothThemes(page);
});

test.runIf(isThorough)("PRJ-13 an owner is offered to redeploy, to see API keys and to create a server", async () => {
  await signIn(owner);
  await page.goto(address("deployments"));
  await page.getByRole("button", { name: "Rebuild" }).waitFor();
  await page.getByRole("button", { name: /^Actions for build/ }).click();
  await page.getByRole("menuitem", { name: "Rebuild this commit" }).waitFor();
  await page.keyboard.press("Escape");
  await page.goto(`${site.url}/${owner.organization.slug}/servers`);
  await page.getByRole("link", { name: "API keys" }).waitFor();
  await page.getByRole("link", { name: "New server" }).waitFor();
});

test.runIf(isThorough)(
  "PRJ-3 a log page that is refused for too many streams says so and continues when one is closed",
  {
    timeout: 60_000,
  },
  async () => {
    const hangUp = new AbortController();
    const path = `/api/deployments/${await deploymentId()}/log`;
    // Read, since undici ends the stream of a response that is garbage collected unread.
    const readers = [];
    for (let count = 0; count < 20; count++) {
      const answer = await viewer.visitor.request(path, { signal: hangUp.signal });
      expect(answer.status).toBe(200);
      readers.push(answer.body?.getReader());
    }
    await signIn(viewer);
    await page.clock.install();
    await page.goto(address(`server-logs/${project.buildId}`));
    await page.getByText("You have 20 logs open, which is the limit.").waitFor();
    await page.getByRole("status").getByText("Paused", { exact: true }).waitFor();
    await expectAccessibleInBothThemes(page);
    hangUp.abort();
    await passTimeUntil(page, page.getByRole("status").getByText("Following", { exact: true }));
    await expect.poll(() => page.getByText("You have 20 logs open").count()).toBe(0);
  },
);

test.runIf(isThorough)(
  "PRJ-3 a removed member's open log page says that the log has stopped",
  { timeout: 60_000 },
  async () => {
    const removed = await seededViewer();
    await signIn(removed);
    await page.goto(address(`server-logs/${project.buildId}`));
    await page.getByRole("status").getByText("Following", { exact: true }).waitFor();
    await site.db.delete(member).where(eq(member.userId, removed.userId));
    await page.getByText("The log has stopped").waitFor({ timeout: 30_000 });
    await page.getByRole("status").getByText("Stopped", { exact: true }).waitFor();
    await expectAccessibleInBothThemes(page);
  },
);

test.runIf(isThorough)(
  "ERR-2 AUTH-2 the pages for a repeated cookie, a wrong URL and too many sign-in attempts",
  async () => {
    const stranger = await seededMember(site.url, site.db);
    await signIn(stranger);
    for (const path of [
      "/provider/problem?error=repeated_cookie",
      `/${stranger.organization.slug}/no-such-server/logs`,
    ]) {
      await page.goto(`${site.url}${path}`);
      await page.getByRole("heading", { level: 1 }).first().waitFor();
      await expectAccessibleInBothThemes(page);
    }
    await context.clearCookies();
    await page.goto(`${site.url}/provider/sign-in`);
    for (let attempt = 0; attempt < 10; attempt++) {
      await page.getByLabel("Email").fill("somebody@example.com");
      await page.getByLabel("Password").fill(`guess number ${attempt}`);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByText(/No account matches|Too many attempts/).waitFor();
      if ((await page.getByText("Too many attempts").count()) > 0) break;
    }
    await expect.poll(() => page.getByText(/Too many attempts. Try again in \d+ seconds?\./).count()).toBe(1);
    await expectAccessibleInBothThemes(page);
  },
);

test("AUTH-2 a cookie planted by another site on the domain causes no redirect loop, and is cleared", async () => {
  await signIn(owner);
  const { name, value } = viewer.visitor.sessionCookie() ?? { name: "", value: "" };
  const { hostname } = new URL(site.url);
  await context.addCookies([{ name, value, domain: hostname, path: "/account" }]);
  await page.goto(`${site.url}/account`);
  await page.getByText("Your browser sent two sign-in cookies").waitFor();
  await expect
    .poll(async () => (await context.cookies(`${site.url}/account`)).filter((cookie) => cookie.name === name))
    .toEqual([]);
  await page.getByRole("link", { name: "Try again" }).click();
  await page.getByRole("button", { name: "Sign in" }).waitFor();
});

async function deploymentId(): Promise<string> {
  const { rows } = await site.pool.query("SELECT id FROM deployment WHERE build_id = $1", [project.buildId]);
  return rows[0].id;
}

async function liveDeployments(): Promise<string[]> {
  const { rows } = await site.pool.query("SELECT deployment_id AS id FROM route");
  return rows.map(({ id }) => id);
}

test("PRJ-14 an owner makes an earlier version live: it asks, says what happens, also when it doesn't start, and the page follows", async () => {
  const ctx = testContext(site.db, owner.organization.owner);
  const input = { orgSlug: owner.organization.slug, projectName: project.name, commitSha: shaOf("b") };
  const { build: newer } = await startBuild({ ctx, input });
  await succeedBuild(site.db, newer.id);
  await signIn(owner);
  await page.goto(address("deployments"));
  const row = (sha: string) => page.getByRole("row").filter({ hasText: sha.slice(0, 7) });
  await row(shaOf("b")).getByText("Live", { exact: true }).waitFor();
  await row(shaOf("a"))
    .getByRole("button", { name: /^Actions for build/ })
    .click();
  await page.getByRole("menuitem", { name: "Make live" }).click();
  const dialog = page.getByRole("dialog", { name: "Make this version live?" });
  await dialog.getByText("New calls reach it as soon as its server answers").waitFor();
  await expectAccessible(page);
  // Its server doesn't start any more: the live version stays.
  const message = "The server did not start: it exited with status 1.";
  const failure = { code: "start_failed", message } as const;
  const earlier = await deploymentId();
  site.runner.servers.set(earlier, { instanceId: earlier, endpoint: { kind: "unix", path: "/none" }, failure });
  await dialog.getByRole("button", { name: "Make live" }).click();
  await dialog.getByText(`${message} Your live version is unaffected.`).waitFor();
  expect(await liveDeployments()).not.toContain(earlier);
  await expectAccessible(page);
  site.runner.servers.delete(earlier);
  await dialog.getByRole("button", { name: "Make live" }).click();
  await row(shaOf("a")).getByText("Live", { exact: true }).waitFor();
  await expect.poll(() => row(shaOf("b")).getByText("Live", { exact: true }).count()).toBe(0);
  // Every page shows it, with the way forward and what the next push does.
  const headline = `Rolled back to ${shaOf("a").slice(0, 7)}`;
  for (const place of ["", "deployments", `build-logs/${newer.id}`, `build-logs/${project.buildId}`]) {
    await page.goto(address(place));
    await page.getByText(headline).first().waitFor();
    await page.getByText("The next push to main goes live as usual.").waitFor();
    await page.getByRole("button", { name: "Make newest live" }).waitFor();
  }
  await page.goto(`${site.url}/${owner.organization.slug}/servers`);
  await page.getByText(headline).waitFor();
  await page.goto(address(""));
  await expectAccessibleInBothThemes(page);
  await page.getByRole("button", { name: "Make newest live" }).click();
  await dialog.getByRole("button", { name: "Make live" }).click();
  await page.getByText(`${shaOf("b").slice(0, 7)} is live`).waitFor();
});
