import { failBuild, startBuild, takeBuild } from "@towpath/core/delivery/build";
import { newId } from "@towpath/core/ids";
import {
  sampleDiagnosis,
  seedLiveProject,
  seedProject,
  seedUser,
  shaOf,
  succeedBuild,
  testContext,
} from "@towpath/core/testing";
import { branch, build, deployment, instance, member } from "@towpath/db/schema";
import { foldRequestLogs, writeRequestLogs } from "@towpath/logs";
import { requestLogRow } from "@towpath/logs/testing";
import { and, eq, ne } from "drizzle-orm";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { expectAccessible, newPage, openBrowser, passTimeUntil, signIn, untilHydrated } from "./browser.ts";
import { sharedSite } from "./site.ts";
import { type Member, seededMember } from "./visitor.ts";

// The repositories of this site are at github.com, which no test calls.
const site = sharedSite();
const browser = openBrowser();
let owner: Member;
let page: Page;

beforeAll(async () => {
  owner = await seededMember(site.url, site.db);
  page = await browser.signedInPage(site.url, owner);
  // Pages look again every few seconds.
  await page.clock.install();
});

type Seeded = { readonly id: string; readonly name: string; readonly deploymentId: string; readonly buildId: string };
const keyOf = (project: { name: string }) => ({ orgSlug: owner.organization.slug, projectName: project.name });
const context = () => testContext(site.db, owner.organization.owner);

async function deploy(project: { id: string; name: string }, name: string, branchName = "main"): Promise<Seeded> {
  const input = { ...keyOf(project), branch: branchName, commitSha: shaOf(name) };
  const { id: buildId } = (await startBuild({ ctx: context(), input })).build;
  await succeedBuild(site.db, buildId);
  const details = {
    commitMessage: "Say when a station is silent",
    commitAuthor: "Ada Lovelace",
    manifest: { tools: [{}] },
  };
  await site.db.update(build).set(details).where(eq(build.id, buildId));
  const [row] = await site.db.select().from(deployment).where(eq(deployment.buildId, buildId));
  return { ...project, buildId, deploymentId: row?.id ?? "" };
}
const liveProject = async () => deploy(await seedProject(site.db, owner.organization), "a");

const hour = 3_600_000;
async function call(
  project: Seeded,
  hoursAgo: readonly number[],
  more: Parameters<typeof requestLogRow>[0] | object = {},
) {
  const { id: projectId, deploymentId } = project;
  const rows = hoursAgo.map((hours) =>
    requestLogRow({ projectId, deploymentId, id: newId(), time: Date.now() - hours * hour, durationMs: 100, ...more }),
  );
  await writeRequestLogs(site.pool, rows);
  while ((await foldRequestLogs(site.pool)) > 0);
}
const failed = { isError: true, outcome: "tool_error", errorMessage: "No station is called Nowhere." };
const open = (path: string) => page.goto(`${site.url}/${owner.organization.slug}/${path}`);
const see = (text: string | RegExp) => passTimeUntil(page, page.getByText(text).first());
const figure = (name: string) => page.locator(`dt:text-is("${name}") + dd`);

test("PRJ-19 a project's home: state, numbers beside the day before, top tools, failures by kind, deployments as marks", async () => {
  const project = await liveProject();
  await call(project, [1, 1.5, 2, 30, 31], { target: "forecast" });
  await call(project, [1, 2], { target: "forecast", ...failed });
  await call(project, [3], { target: "current", principal: "user:b", session: "other" });
  await site.db.insert(instance).values({
    id: newId(),
    deploymentId: project.deploymentId,
    state: "ready",
    memoryBytes: 48_000_000,
    startedAt: new Date(Date.now() - 2 * hour),
  });
  await open(project.name);
  await page.getByRole("heading", { level: 1, name: project.name }).waitFor();
  for (const text of ["Say when a station is silent", shaOf("a").slice(0, 7), "by Ada Lovelace", "48.0 MB", "1 tool"])
    await see(text);
  await see("Awake");
  await expect.poll(() => figure("Calls").textContent()).toBe("6");
  await see("+200% vs. the day before");
  await expect.poll(() => figure("Error rate").textContent()).toBe("33%");
  await see("2 errors");
  await expect.poll(async () => Number.parseInt((await figure("Median").textContent()) ?? "", 10)).toBeGreaterThan(90);
  await expect.poll(() => figure("Active callers").textContent()).toBe("2");
  const tools = page.getByRole("table", { name: "Top tools" }).locator("tbody").getByRole("row");
  await expect.poll(() => tools.first().textContent()).toContain("forecast");
  await expect.poll(() => tools.count()).toBe(2);
  await see("Deployments");
  await expect.poll(() => page.locator("[title^='Deployed']").count()).toBe(1);
  await expectAccessible(page);
  await page.setViewportSize({ width: 1280, height: 800 });
  const failure = page.getByRole("listitem").filter({ hasText: "No station is called Nowhere." });
  await expect.poll(() => failure.textContent()).toContain("× 2");
  await failure.getByRole("link").click();
  await page.waitForURL(/\/logs\?.*request=/);
  await page.getByRole("dialog").getByText("No station is called Nowhere.").first().waitFor();
});

test.runIf(isThorough)(
  "PRJ-19 a new call changes the numbers of the open page; a rate of few calls alarms nobody",
  async () => {
    const project = await liveProject();
    await call(project, [1]);
    const isRed = () => figure("Error rate").locator(".text-bad").count();
    const red = page.locator("#content :is([class*='-bad'], [style*='--bad'])");
    await open(project.name);
    await expect.poll(() => figure("Calls").textContent()).toBe("1");
    await call(project, [0]);
    await expect.poll(() => figure("Calls").textContent(), { timeout: 20_000 }).toBe("2");
    await call(project, [0], failed);
    await expect.poll(() => figure("Error rate").textContent(), { timeout: 20_000 }).toBe("33%");
    await expect.poll(isRed).toBe(0);
    expect(await red.count()).toBe(0);
    await call(project, Array(17).fill(0));
    await expect.poll(isRed, { timeout: 20_000 }).toBe(1);
    // In the figure, its line, the chart and the message.
    expect(await red.count()).toBeGreaterThan(3);
  },
);

test.runIf(isThorough)(
  "PRJ-19 the errors that are counted are the rows that their link opens: none older, none that was refused, of a preview its own",
  async () => {
    const project = await liveProject();
    const preview = await deploy(project, "p", "slower");
    const [row] = await site.db.select().from(branch).where(eq(branch.name, "slower"));
    await call(project, [1, 2, 30], failed);
    await call(project, [3]);
    await call(project, [1], { isError: true, outcome: "gateway_error", httpStatus: 401, refusal: "unauthorized" });
    await call(preview, [1], failed);
    // A page with an installed clock can't send dates.
    const timely = await browser.signedInPage(site.url, owner);
    const requests = timely.getByRole("table", { name: "Requests" }).locator("tbody").getByRole("row");
    for (const [query, counted] of [
      ["", 3],
      [`?branchId=${row?.id}`, 1],
    ] as const) {
      await timely.goto(`${site.url}/${owner.organization.slug}/${project.name}${query}`);
      await timely.getByRole("link", { name: counted === 1 ? "1 error" : `${counted} errors`, exact: true }).click();
      await timely.waitForURL(/\/logs\?/);
      await expect.poll(() => requests.count()).toBe(counted);
      // The chart counts the same.
      await expect.poll(() => timely.locator('dt:text-is("Requests") + dd').textContent()).toBe(String(counted));
    }
    await expectAccessible(timely);
    await timely.context().close();
  },
);

test.runIf(isThorough)(
  "RUN-6 PRJ-19 a crash is shown: why the server ended, what comes next, and the way to its log",
  async () => {
    const project = await liveProject();
    await site.db.insert(instance).values({
      id: newId(),
      deploymentId: project.deploymentId,
      state: "crashed",
      exitCode: 3,
      endReason: "it exited with status 3",
      endedAt: new Date(Date.now() - hour),
    });
    await open(project.name);
    await see("The server crashed");
    await see("It exited with status 3. The next call starts it again");
    // In the first line, in place of "Live".
    await page.getByText("Crashed", { exact: true }).waitFor();
    await page.getByRole("button", { name: new RegExp(`${project.name} ?, Crashed`) }).waitFor();
    await expectAccessible(page);
    await page.getByRole("link", { name: "Open server log" }).click();
    await page.waitForURL(`**/${project.name}/server-logs/${project.buildId}`);
  },
);

test.runIf(isThorough)("CAP-1 RUN-6 a caller's instance that crashes is shown as theirs", async () => {
  const project = await liveProject();
  const { id: callerId } = await seedUser(site.db);
  const ended = { state: "crashed", endReason: "it exited with status 3", endedAt: new Date() };
  await site.db.insert(instance).values({ id: newId(), deploymentId: project.deploymentId, callerId, ...ended });
  await open(project.name);
  await see("The instance of a caller crashed");
  await see("It exited with status 3.");
  await page.getByText("Ada Example,").waitFor();
  expect(await page.getByText("The server crashed").count()).toBe(0);
  await page.getByRole("button", { name: new RegExp(`${project.name} ?, Live`) }).waitFor();
  await expectAccessible(page);
});

test.runIf(isThorough)("PRJ-19 live but never called: how to call it", async () => {
  const project = await liveProject();
  await open(project.name);
  await see("No calls yet");
  await page.getByRole("tab", { name: "Claude Code" }).waitFor();
  await page.getByRole("link", { name: "Call a tool in the inspector" }).waitFor();
  await expectAccessible(page);
});

const step = (name: RegExp) => page.getByRole("region", { name: "First steps" }).getByRole("link", { name });
const beAlone = ({ organization, userId }: Member) =>
  site.db.delete(member).where(and(eq(member.organizationId, organization.id), ne(member.userId, userId)));

test.runIf(isThorough)(
  "SRC-4 first steps of a new server tick themselves off, lead to where each is done, and are gone when all are",
  async () => {
    const project = await liveProject();
    await open(project.name);
    // Seeded organizations have a second owner.
    await see("1 of 4 done");
    await expectAccessible(page);
    for (const [name, path] of [
      [/^Call it/, `/${project.name}/inspector`],
      [/^Connect a client/, `/${project.name}/clients`],
      [/^Invite somebody/, "/welcome/invite-teammates"],
    ] as const) {
      await step(name).click();
      await page.waitForURL(`**${path}*`);
      await page.goBack();
      await see("1 of 4 done");
    }
    await step(/^Change it/).click();
    // The overview has no commands for a repository without a known page.
    await page.waitForURL(/settings#source$/);
    await page.goBack();
    await call(project, [0], { clientName: "Towpath inspector" });
    await see("2 of 4 done");
    await step(/^Call it ?, done/).waitFor();
    await call(project, [0], { clientName: "claude-ai" });
    await see("3 of 4 done");
    await deploy(project, "another");
    await see("All done. This list is gone the next time.");
    await expectAccessible(page);
    // No requests from then on.
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    await page.reload();
    await expect.poll(() => figure("Calls").textContent()).toBe("2");
    expect(await page.getByText("First steps").count()).toBe(0);
    await page.clock.runFor(20_000);
    expect(asked.filter((url) => url.includes("FirstSteps"))).toEqual([]);
  },
);

test.runIf(isThorough)(
  "SRC-4 people who hide the first steps, by keyboard, see them at no server again; others do",
  async () => {
    const mine = await seededMember(site.url, site.db);
    await beAlone(mine);
    const servers = [
      await seedLiveProject(site.db, mine.organization),
      await seedLiveProject(site.db, mine.organization),
    ];
    const theirs = await browser.signedInPage(site.url, mine);
    const home = (server: { readonly name: string } | undefined) =>
      theirs.goto(`${site.url}/${mine.organization.slug}/${server?.name}`);
    await home(servers[0]);
    await theirs.getByText("0 of 4 done").waitFor();
    const hide = theirs.getByRole("button", { name: "Hide this list for good" });
    await hide.focus();
    await theirs.keyboard.press("Enter");
    await theirs.getByText("First steps").waitFor({ state: "detached" });
    await home(servers[1]);
    await theirs.getByText("No calls yet").waitFor();
    expect(await theirs.getByText("First steps").count()).toBe(0);
    await theirs.context().close();
  },
);

test.runIf(isThorough)(
  "PRJ-19 not deployed, building, and a first build that failed: each says what comes next",
  async () => {
    const project = await seedProject(site.db, owner.organization);
    await page.setViewportSize({ width: 1280, height: 800 });
    await open(project.name);
    await see("Nothing deployed yet");
    const started = await startBuild({ ctx: context(), input: { ...keyOf(project), commitSha: shaOf("a") } });
    await see("The first build is queued");
    const worker = testContext(site.db, { kind: "job", job: "build.run" });
    const taken = await takeBuild({ ctx: worker, input: { buildId: started.build.id } });
    await see("The first build is running");
    await expectAccessible(page);
    const fence = { buildId: started.build.id, attempt: taken?.attempt ?? 0 };
    await failBuild({ ctx: worker, input: { ...fence, diagnosis: sampleDiagnosis } });
    await see(sampleDiagnosis.title);
    await page.getByRole("link", { name: "See what went wrong" }).click();
    await page.waitForURL(new RegExp(`/build-logs/${started.build.id}`));
  },
);

test.runIf(isThorough)(
  "PRJ-19 a preview's page is about the preview, its calls and its URL; an unknown branch says so",
  async () => {
    const project = await liveProject();
    const preview = await deploy(project, "p", "faster");
    const [row] = await site.db.select().from(branch).where(eq(branch.name, "faster"));
    await call(project, [1, 2, 3]);
    await call(preview, [1]);
    await page.setViewportSize({ width: 1280, height: 800 });
    await open(`${project.name}?branchId=${row?.id}`);
    await page.getByRole("heading", { level: 1, name: `${project.name}, faster` }).waitFor();
    await expect.poll(() => figure("Calls").textContent()).toBe("1");
    await page.getByRole("button", { name: "Connect", exact: true }).click();
    const drawer = page.getByRole("dialog");
    await drawer.getByText(`${project.name}-faster/mcp`).first().waitFor();
    await open(`${project.name}?branchId=${newId()}`);
    await see("Branch not found");
    await page.getByRole("link", { name: "Go to production" }).click();
    await expect.poll(() => figure("Calls").textContent()).toBe("4");
  },
);

test.runIf(isThorough)(
  "ORG-2 the list of servers: calls, errors, last call, tools, awake or asleep, and a build only where it isn't live",
  async () => {
    const project = await liveProject();
    await call(project, [1, 2]);
    await call(project, [3], failed);
    await site.db.insert(instance).values({ id: newId(), deploymentId: project.deploymentId, state: "frozen" });
    await open(`servers?text=${project.name}`);
    const row = page.getByRole("table", { name: "Servers" }).locator("tbody").getByRole("row");
    await expect.poll(() => row.count()).toBe(1);
    await expect.poll(() => row.textContent()).toMatch(/Live.*Asleep.*3.*1.*1h ago.*1/);
    await expect.poll(() => row.textContent()).not.toContain("Succeeded");
    // Nor is a preview's build that went well.
    await deploy(project, "c", "calmer");
    await page.reload();
    await expect.poll(() => row.textContent()).toMatch(/Live.*Asleep/);
    expect(await row.textContent()).not.toContain("Succeeded");
    // One failed call of three is not highlighted.
    expect(await row.locator(".text-bad").count()).toBe(0);
    const { build: newer } = await startBuild({ ctx: context(), input: { ...keyOf(project), commitSha: shaOf("b") } });
    const link = row.getByRole("link", { name: /Queued/ });
    await passTimeUntil(page, link);
    await expect.poll(() => link.getAttribute("href")).toContain(newer.id);
    await expectAccessible(page);
  },
);

test.runIf(isThorough)(
  "ORG-2 the list is sorted by calls: the busiest server first, one that was never called last",
  async () => {
    const mine = await seededMember(site.url, site.db);
    const seeded = async () => ({
      ...(await seedProject(site.db, mine.organization)),
      deploymentId: newId(),
      buildId: "",
    });
    const [idle, busy, quiet] = [await seeded(), await seeded(), await seeded()];
    await call(quiet, [1]);
    await call(busy, [1, 2, 3]);
    const theirs = await browser.signedInPage(site.url, mine);
    await theirs.goto(`${site.url}/${mine.organization.slug}/servers`);
    const header = theirs.getByRole("columnheader", { name: "Calls, 24 h" });
    const names = () => theirs.getByRole("table", { name: "Servers" }).locator("[data-row]").allTextContents();
    await header.getByRole("button").press("Enter");
    await expect.poll(() => header.getAttribute("aria-sort")).toBe("ascending");
    await header.getByRole("button").press("Enter");
    await expect.poll(names).toEqual([busy.name, quiet.name, idle.name]);
  },
);

test.runIf(isThorough)(
  "ORG-2 on a phone the sort buttons are above the cards, large enough to tap; a list of one has none",
  async () => {
    const mine = await seededMember(site.url, site.db);
    // Not random: numbers in names are compared as numbers.
    const [first, second] = [`a-${mine.organization.slug}`, `b-${mine.organization.slug}`] as const;
    const ascending = [first, second];
    await seedProject(site.db, mine.organization, { name: first });
    const context = await browser.newContext({ viewport: { width: 360, height: 740 }, hasTouch: true });
    await signIn(context, site.url, mine);
    const phone = await newPage(context);
    const servers = `${site.url}/${mine.organization.slug}/servers`;
    const sort = phone.getByRole("columnheader", { name: "Server" }).getByRole("button");
    const names = () => phone.getByRole("table", { name: "Servers" }).locator("[data-row]").allTextContents();
    await phone.goto(servers);
    await untilHydrated(phone);
    expect(await sort.isVisible()).toBe(false);
    await seedProject(site.db, mine.organization, { name: second });
    await phone.goto(servers);
    await untilHydrated(phone);
    expect((await sort.boundingBox())?.height).toBeGreaterThanOrEqual(36);
    await sort.tap();
    await expect.poll(names).toEqual(ascending);
    await sort.tap();
    await expect.poll(names).toEqual(ascending.toReversed());
    expect(await phone.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
    await expectAccessible(phone);
  },
);
