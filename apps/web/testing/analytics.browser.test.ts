import { newId } from "@towpath/core/ids";
import { sampleManifest, sampleTool, seedProject, shaOf } from "@towpath/core/testing";
import { build, deployment } from "@towpath/db/schema";
import { foldRequestLogs, writeRequestLogs } from "@towpath/logs";
import { requestLogRow } from "@towpath/logs/testing";
import { eq } from "drizzle-orm";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { expectAccessible, openBrowser, passTimeUntil, untilHydrated } from "./browser.ts";
import { sharedSite } from "./site.ts";
import { callServerFunction, type Member, seededMember } from "./visitor.ts";

const site = sharedSite();
const browser = openBrowser();
let page: Page;
let owner: Member;
let project: Awaited<ReturnType<typeof seedProject>>;
let empty: Awaited<ReturnType<typeof seedProject>>;

const minute = 60_000;
const deploymentId = newId();

beforeAll(async () => {
  owner = await seededMember(site.url, site.db);
  project = await seedProject(site.db, owner.organization);
  empty = await seedProject(site.db, owner.organization);
  await seedBuild();
  await seedCalls();
  page = await browser.signedInPage(site.url, owner);
});

async function seedBuild(): Promise<void> {
  const text = { title: null, mimeType: null };
  await site.db.insert(build).values({
    id: newId(),
    projectId: project.id,
    branchId: project.branchId,
    status: "succeeded",
    commitSha: shaOf("a"),
    trigger: "push",
    sequence: 1,
    entrypoint: "echo.py",
    manifest: sampleManifest({
      tools: ["echo", "group/add"].map((name) =>
        sampleTool(name, { inputSchema: { type: "object", properties: { text: { type: "string" } } } }),
      ),
      resources: [{ resource_name: "all", uri: "notes://all", description: "All notes", ...text }],
      templates: [{ template_name: "note", uriTemplate: "notes://{id}", description: "One note", ...text }],
    }),
  });
}

async function seedCalls(): Promise<void> {
  const now = Date.now();
  const me = `user:${owner.userId}`;
  const call = { projectId: project.id, organizationId: owner.organization.id, deploymentId };
  const legacy = {
    ...call,
    session: "legacy-session-of-mine",
    principal: me,
    clientName: "claude",
    clientVersion: "2.1",
  };
  const modern = { ...call, session: null, principal: me, clientName: "agent", protocolVersion: "2026-07-28" };
  const failed = { ...legacy, isError: true, outcome: "tool_error" as const };
  const read = { ...legacy, method: "resources/read" };
  await writeRequestLogs(site.pool, [
    ...[9, 8, 7].map((ago) => requestLogRow({ ...legacy, time: now - ago * minute, durationMs: 20 })),
    requestLogRow({ ...failed, time: now - 6 * minute, durationMs: 900 }),
    requestLogRow({ ...failed, time: now - 6 * minute, errorMessage: "1 validation error for echoArguments" }),
    requestLogRow({ ...read, time: now - 5 * minute, target: "notes://all" }),
    requestLogRow({ ...read, time: now - 5 * minute, target: "notes://1" }),
    requestLogRow({ ...read, time: now - 5 * minute, target: "notes://2" }),
    requestLogRow({ ...modern, time: now - 3 * minute }),
    requestLogRow({ ...modern, time: now - 90 * minute }),
    ...Array.from({ length: 110 }, (_, at) =>
      requestLogRow({ ...call, session: `older ${at}`, time: now - (100 + at) * minute, target: "other" }),
    ),
  ]);
  while ((await foldRequestLogs(site.pool)) > 0);
}

const base = (of = project) => `${site.url}/${owner.organization.slug}/${of.name}`;
const rowsOf = (table: string) => page.getByRole("table", { name: table }).locator("tbody").getByRole("row");
const figure = (name: string) => page.locator("dl > div").filter({ hasText: name }).locator("dd").first();

test("PRJ-6 LOG-2 sessions: figures, chart and a list of both eras, 100 per page", async () => {
  await page.goto(`${base()}/sessions`);
  await expect.poll(() => rowsOf("Sessions").count()).toBe(100);
  // A part of the list can't be sorted.
  expect(await page.getByRole("columnheader").getByRole("button").count()).toBe(0);
  const texts = await rowsOf("Sessions").allTextContents();
  expect(texts.filter((text) => text.includes("agent"))).toHaveLength(2);
  const mine = texts.find((text) => text.includes("claude 2.1"));
  for (const text of ["Ada Lovelace", "2025-11-25"]) expect(mine).toContain(text);
  await expect.poll(() => figure("Sessions").textContent()).toBe("113");
  await page.locator("[data-bars]").first().waitFor({ state: "attached" });
  await untilHydrated(page);
  await page.getByRole("button", { name: "Show older sessions" }).click();
  await expect.poll(() => rowsOf("Sessions").count()).toBe(113);
  await expect.poll(() => page.getByRole("button", { name: "Show older sessions" }).count()).toBe(0);
  // The whole list is loaded, so it can be sorted, by keys alone.
  const calls = page.getByRole("columnheader", { name: "Calls" });
  const counts = async () =>
    (await rowsOf("Sessions").allTextContents()).map((text) => Number(/Calls(\d+)/.exec(text)?.[1]));
  await calls.getByRole("button").press("Enter");
  await expect.poll(() => calls.getAttribute("aria-sort")).toBe("ascending");
  expect(await counts()).toEqual((await counts()).toSorted((a, b) => a - b));
  await calls.getByRole("button").press("Enter");
  await expect.poll(() => calls.getAttribute("aria-sort")).toBe("descending");
  expect(await counts()).toEqual((await counts()).toSorted((a, b) => b - a));
  expect(new Set(await counts()).size).toBeGreaterThan(1);
  await calls.getByRole("button").press("Enter");
  await expect.poll(() => calls.getAttribute("aria-sort")).toBeNull();
  await page.getByLabel("Time range").click();
  await page.getByRole("option", { name: "Last 15 minutes" }).click();
  await expect.poll(() => rowsOf("Sessions").count()).toBe(2);
  await expect.poll(() => new URL(page.url()).search).toBe("?timeRange=15m");
  await expectAccessible(page);
  await page.goBack();
  await expect.poll(() => new URL(page.url()).pathname).toMatch(/\/sessions$/);
  await expect.poll(() => new URL(page.url()).search).toBe("");
});

test("PRJ-6 a session's page shows caller, client and called items, and links to its rows", async () => {
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(`${base()}/sessions?timeRange=15m`);
  // By keyboard alone.
  await page.getByRole("link", { name: "claude 2.1", exact: true }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "claude 2.1", level: 1 }).waitFor();
  for (const text of ["Ada Lovelace", "2025-11-25", "legacy-session-of-mine", "All calls of this session."])
    await page.getByText(text).first().waitFor();
  const echo = (await rowsOf("Usage").filter({ hasText: "echo" }).textContent()) ?? "";
  for (const text of ["5", "2", "900 ms"]) expect(echo).toContain(text);
  await expectAccessible(page);
  await page.getByRole("link", { name: "Calls in the log" }).click();
  await expect.poll(() => rowsOf("Requests").count()).toBe(8);
  await page.getByRole("button", { name: "Remove session:legacy-session-of-mine" }).click();
  await expect.poll(() => rowsOf("Requests").count()).toBe(100);
});

test.runIf(isThorough)("PRJ-6 a formed session has a page of its own, an unknown one says so", async () => {
  await page.goto(`${base()}/sessions?timeRange=15m`);
  await page.getByRole("link", { name: "agent 1.0", exact: true }).click();
  await page.getByText("Grouped from calls without a session id").waitFor();
  await page.getByText("2026-07-28").first().waitFor();
  await page.goto(`${base()}/sessions/none`);
  await page.getByText("No such session").waitFor();
  await page.goto(`${base()}/users/user%3Anone`);
  await page.getByText("No such user").waitFor();
});

test.runIf(isThorough)(
  "PRJ-6 users: members by name, anonymous callers as one; a user's sessions and usage",
  async () => {
    await page.goto(`${base()}/users`);
    await expect.poll(() => rowsOf("Users").count()).toBe(2);
    await expect.poll(() => figure("Users").textContent()).toBe("2");
    // The course of each user's calls.
    expect(await rowsOf("Users").locator("svg[preserveAspectRatio=none]").count()).toBe(2);
    await expectAccessible(page);
    await page.setViewportSize({ width: 1280, height: 800 });
    await rowsOf("Users")
      .getByRole("link", { name: /^User Ada Lovelace/ })
      .click();
    await page.getByRole("heading", { name: "Ada Lovelace", level: 1 }).waitFor();
    await expect.poll(() => rowsOf("Sessions").count()).toBe(3);
    await expect.poll(() => figure("Calls").textContent()).toBe("10");
    await expect.poll(() => rowsOf("Usage").filter({ hasText: "echo" }).textContent()).toContain("7");
    await expectAccessible(page);
  },
);

test("PRJ-7 CAP-7 surface: all kinds with calls, errors, argument errors, tokens and what callers may use", async () => {
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(`${base()}/surface`);
  await expect.poll(() => rowsOf("Surface").count()).toBe(4);
  const row = async (name: string) => (await rowsOf("Surface").filter({ hasText: name }).textContent()) ?? "";
  expect(await row("What echo does")).toMatch(/tool.*Calls7.*Errors2.*Argument errors1.*Tokens\d+/);
  expect(await row("One note")).toMatch(/resource template.*Calls2/);
  await page.getByText(/takes about \d+ tokens of a model's context/).waitFor();
  await page.getByText("Callers: owners, admins, members, and all API keys.").waitFor();
  await expectAccessible(page);
  await page.setViewportSize({ width: 1280, height: 800 });
  await untilHydrated(page);
  await page.getByRole("combobox", { name: "Kind" }).click();
  await page.getByRole("option", { name: "Resources" }).click();
  await expect.poll(() => rowsOf("Surface").count()).toBe(1);
  expect(new URL(page.url()).search).toBe("?kind=resource");
  await page.getByRole("combobox", { name: "Kind" }).click();
  await page.getByRole("option", { name: "Prompts" }).click();
  await page.getByText("This server has no prompts").waitFor();
  await page.getByRole("combobox", { name: "Kind" }).click();
  await page.getByRole("option", { name: "All kinds" }).click();
  // Until it is closed, keys belong to the list of options.
  await page.getByRole("listbox").waitFor({ state: "detached" });
  await page.keyboard.press("/");
  await page.keyboard.type("GROUP");
  await expect.poll(() => rowsOf("Surface").count()).toBe(1);
});

test("PRJ-7 a tool: schema, figures, chart, callers and links", async () => {
  await page.goto(`${base()}/surface`);
  await page.getByRole("link", { name: "echo", exact: true }).click();
  await page.waitForURL(`${base()}/surface/tool/echo`);
  await expect.poll(() => figure("Calls").textContent()).toBe("7");
  await expect.poll(() => figure("Errors").textContent()).toBe("2");
  await page.getByText("99th percentile").waitFor();
  await page.getByText("What echo does").waitFor();
  await page.getByText("It refused the arguments of one call").waitFor();
  await page.getByText("Schema").click();
  await page.getByText("properties").waitFor();
  await expect.poll(() => rowsOf("Who used it").first().textContent()).toContain("Ada Lovelace");
  await expectAccessible(page);
  await page.setViewportSize({ width: 1280, height: 800 });
  await expect
    .poll(() => page.getByRole("main").getByRole("link", { name: "Inspector" }).getAttribute("href"))
    .toContain("tool=echo");
  const log = await page.getByRole("main").getByRole("link", { name: "Log", exact: true }).getAttribute("href");
  expect(decodeURIComponent(log ?? "")).toContain("methodType=tool:echo");
  await page.goto(`${base()}/surface`);
  await page.getByRole("link", { name: "group/add", exact: true }).click();
  await page.getByText("Nobody used it in this period").waitFor();
  await page.reload();
  await page.getByText("What group/add does").waitFor();
});

test.runIf(isThorough)(
  "PRJ-7 CAP-7 addresses of one kind's pages lead to it with their period; reads are matched to templates",
  async () => {
    await page.goto(`${base()}/resources?timeRange=7d`);
    await page.waitForURL(`${base()}/surface?timeRange=7d&kind=resource`);
    await page.goto(`${base()}/resources/all?timeRange=7d`);
    await page.waitForURL(`${base()}/surface/resource/all?timeRange=7d`);
    await expect.poll(() => figure("Calls").textContent()).toBe("1");
    await page.goto(`${base()}/resource-templates/note`);
    await page.waitForURL(`${base()}/surface/template/note`);
    await expect.poll(() => figure("Calls").textContent()).toBe("2");
    await expectAccessible(page);
    await page.goto(`${base()}/tools/group%2Fadd`);
    await page.getByText("What group/add does").waitFor();
    await page.goto(`${base()}/prompts/gone`);
    await page.getByText("No prompt of this name").waitFor();
    await page.goto(`${base()}/surface/nothing/gone`);
    await page.getByRole("heading", { name: /not found/i }).waitFor();
  },
);

test.runIf(isThorough)(
  "CAP-7 the surface is compared with an earlier deployment's: added, changed and removed items",
  async () => {
    await page.setViewportSize({ width: 1280, height: 800 });
    const branchId = project.branchId;
    const earlier = {
      id: newId(),
      sequence: 0,
      commitSha: shaOf("0"),
      commitMessage: "The beginning",
      createdAt: new Date(0),
    };
    const [now] = await site.db.select().from(build).where(eq(build.projectId, project.id));
    if (!now) throw new Error("Nothing was built.");
    await site.db.insert(build).values({
      ...now,
      ...earlier,
      manifest: sampleManifest({ tools: [sampleTool("echo"), sampleTool("gone")], resources: [], templates: [] }),
    });
    const deployed = { projectId: project.id, branchId, environment: "production" as const, slug: project.name };
    await site.db.insert(deployment).values([
      { ...deployed, id: newId(), buildId: earlier.id },
      { ...deployed, id: deploymentId, buildId: now.id },
    ]);
    await page.goto(`${base()}/surface`);
    await untilHydrated(page);
    await page.getByRole("combobox", { name: "Compare with" }).click();
    await page.getByRole("option", { name: /The beginning/ }).click();
    const changes = page.getByRole("region", { name: "Changes" });
    await changes.getByText("group/add").waitFor();
    const chips = await changes.getByRole("listitem").allTextContents();
    expect(chips.join("\n")).toMatch(/Removed tool gone.*Added tool group\/add/s);
    await changes.getByText("One of them can break existing calls.").waitFor();
    await expectAccessible(page);
    await page.setViewportSize({ width: 1280, height: 800 });
    expect(new URL(page.url()).searchParams.get("against")).toBe(earlier.id);
  },
);

test.runIf(isThorough)(
  "PRJ-6 PRJ-7 a project without calls or builds: every page says what will be there, in the dark too",
  async () => {
    await page.emulateMedia({ colorScheme: "dark" });
    for (const [screen, text] of [
      ["sessions", "No sessions in the last 24 hours"],
      ["users", "Nobody called in the last 24 hours"],
      ["surface", "No build has succeeded yet"],
      ["server-logs", "Nothing is live yet"],
    ] as const) {
      await page.goto(`${base(empty)}/${screen}`);
      await page.getByText(text).waitFor();
      await expectAccessible(page);
    }
    await page.emulateMedia({ colorScheme: "light" });
  },
);

test.runIf(isThorough)(
  "PRJ-6 PRJ-7 when usage can't be read, the page says so and offers to try again; lists are read again every 30 s",
  async () => {
    const failing = await browser.signedInPage(site.url, owner);
    await failing.clock.install();
    await failing.goto(`${base()}/users`);
    await untilHydrated(failing);
    await failing.route(/_serverFn\/analytics\.getSessions/, (answer) =>
      answer.fulfill({ status: 500, body: "broken" }),
    );
    await failing.getByRole("link", { name: "Sessions" }).click();
    await passTimeUntil(failing, failing.getByText("An unexpected error occurred while loading this page."));
    await expectAccessible(failing);
    await failing.unroute(/_serverFn\/analytics\.getSessions/);
    await failing.getByRole("button", { name: "Try again" }).click();
    const rows = failing.getByRole("table", { name: "Sessions" }).locator("tbody").getByRole("row");
    await expect.poll(() => rows.count()).toBe(100);
    // By the page's own clock, which is stopped until then.
    await failing.goto(`${base()}/surface`);
    await passTimeUntil(failing, failing.getByText("What echo does"));
    const [{ manifest } = { manifest: null }] = await site.db
      .select({ manifest: build.manifest })
      .from(build)
      .where(eq(build.projectId, project.id));
    const { tools, ...others } = manifest as { readonly tools: readonly object[] };
    const late = { ...tools[0], tool_name: "late", description: "Came with a push" };
    await site.db
      .update(build)
      .set({ manifest: { ...others, tools: [...tools, late] } })
      .where(eq(build.projectId, project.id));
    await failing.clock.runFor(31_000);
    await failing.getByRole("link", { name: "late", exact: true }).waitFor();
  },
);

test("LOG-5 the statistics of the log refuse a search", async () => {
  const data = { orgSlug: owner.organization.slug, projectName: project.name, search: "echo" };
  const { status, text } = await callServerFunction(owner.visitor, "request-log.getLogStats", "GET", data);
  expect([status, text]).toEqual([422, expect.stringContaining("Statistics can't be limited to a search")]);
});
