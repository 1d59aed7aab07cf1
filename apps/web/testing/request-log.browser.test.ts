import { newId } from "@towpath/core/ids";
import { seedProject, shaOf } from "@towpath/core/testing";
import { apikey, build, deployment } from "@towpath/db/schema";
import { foldRequestLogs, writeRequestLogs } from "@towpath/logs";
import { requestLogRow } from "@towpath/logs/testing";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { expectAccessible, openBrowser } from "./browser.ts";
import { sharedSite } from "./site.ts";
import { callServerFunction, type Member, seededMember } from "./visitor.ts";

const site = sharedSite();
const browser = openBrowser();
let page: Page;
let owner: Member;
let project: Awaited<ReturnType<typeof seedProject>>;
const [deploymentId, buildId, keyId] = [newId(), newId(), newId()];
const minute = 60_000;

beforeAll(async () => {
  owner = await seededMember(site.url, site.db);
  project = await seedProject(site.db, owner.organization);
  const ids = { projectId: project.id, branchId: project.branchId };
  await site.db.insert(build).values({
    ...ids,
    id: buildId,
    status: "succeeded",
    commitSha: shaOf("a"),
    commitMessage: "Warm the canal",
    trigger: "push",
    sequence: 1,
    entrypoint: "echo.py",
  });
  await site.db
    .insert(deployment)
    .values({ ...ids, id: deploymentId, buildId, environment: "production", slug: project.name });
  await site.db
    .insert(apikey)
    .values({ id: keyId, organizationId: owner.organization.id, name: "Nightly CI", hash: keyId });
  const now = Date.now();
  await writeRequestLogs(site.pool, [
    row({
      time: now - 40 * minute,
      target: "weather",
      isError: true,
      outcome: "tool_error",
      clientName: "cursor",
      session: "c1",
    }),
    row({ time: now - 30 * minute, target: "echo", principal: `key:${keyId}`, clientName: "claude" }),
    row({ time: now - 20 * minute, method: "resources/read", target: "notes://1", clientName: "claude" }),
    row({ time: now - 20 * minute, method: "initialize", target: null }),
  ]);
  while ((await foldRequestLogs(site.pool)) > 0);
  page = await browser.signedInPage(site.url, owner);
});

const row = (changes: Partial<Parameters<typeof requestLogRow>[0]>) =>
  requestLogRow({ projectId: project.id, organizationId: owner.organization.id, deploymentId, ...changes });
const logs = (search = "") => `${site.url}/${owner.organization.slug}/${project.name}/logs${search}`;
const bar = () => page.getByRole("combobox", { name: "Filter the log" });
const rows = () => page.getByRole("table", { name: "Requests" }).locator("tbody").getByRole("row");
const parameter = (name: string) => new URL(page.url()).searchParams.get(name);
/** Statistics are read by the page's script alone: with the chart, the page is ready for keys. */
const open = async (search = "") => {
  await page.goto(logs(search));
  await page.getByRole("slider", { name: /Choose a period/ }).waitFor();
};
const ask = async (text: string) => {
  await bar().fill(text);
  await bar().press("Enter");
};

test("PRJ-5 the log is asked by text: completed, explained, as chips, in the address; by keys alone", async () => {
  await open();
  await expect.poll(() => rows().count()).toBe(3);
  await page.locator("body").press("/");
  await page.getByRole("option", { name: /^tool:/ }).waitFor();
  await page.keyboard.type("to");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.getByRole("option", { name: /^tool:echo/ }).waitFor();
  await expect.poll(() => bar().inputValue()).toBe("tool:");
  await page.keyboard.type("ec");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect.poll(() => parameter("methodType")).toBe("tool:echo");
  await expect.poll(() => rows().count()).toBe(1);
  await expectAccessible(page);

  await bar().fill("status:");
  await page.getByRole("option", { name: /^status:error/ }).waitFor();
  await bar().press("Escape");
  await page.getByRole("option").first().waitFor({ state: "detached" });
  await expect.poll(() => bar().inputValue()).toBe("status:");
  await ask("tools:echo");
  await page.getByText("There is no tools: filter. Did you mean tool:?").waitFor();
  expect(parameter("methodType")).toBe("tool:echo");
  await bar().press("Escape");
  await expect.poll(() => bar().inputValue()).toBe("tool:echo");

  await page.setViewportSize({ width: 1280, height: 800 });
  await bar().press("ArrowDown");
  await page.keyboard.press("Enter");
  const drawer = page.getByRole("dialog");
  await drawer.getByText("Nightly CI").waitFor();
  expect(await drawer.getByRole("link", { name: /Warm the canal/ }).getAttribute("href")).toContain(buildId);
  await page.keyboard.press("Escape");
  await drawer.waitFor({ state: "detached" });

  await page.getByRole("button", { name: "Remove tool:echo" }).click();
  await expect.poll(() => rows().count()).toBe(3);
  await expect.poll(() => bar().inputValue()).toBe("");
});

test.runIf(isThorough)(
  "PRJ-5 clients, people, keys, commits and resources are filters; unknown names are reported",
  async () => {
    await open();
    await expect.poll(() => rows().count()).toBe(3);
    for (const [query, count] of [
      ["client:Clau", 2],
      ["duration:>100000", 0],
      ['user:"nightly ci"', 1],
      [`status:error deployment:${shaOf("a").slice(0, 7)}`, 1],
      ["resource:notes://1", 1],
      ["status:ok canal", 0],
    ] as const) {
      await ask(query);
      await expect
        .poll(async () => [query, await bar().inputValue(), await rows().count()])
        .toEqual([query, query, count]);
    }
    await page.getByText("No matching calls").waitFor();
    // The chart stays, even for filters that it doesn't support.
    await page.getByRole("slider", { name: /Choose a period/ }).waitFor();
    await page.getByText("Chart and figures leave out the filters").waitFor();
    await page.goBack();
    await expect.poll(() => bar().inputValue()).toBe("resource:notes://1");
    await expect.poll(() => rows().count()).toBe(1);
    await page.goForward();
    await ask("user:nobody");
    await page
      .getByText("No member and no API key of this organization is called “nobody”.")
      .waitFor({ timeout: 30_000 });
    await expectAccessible(page);
  },
);

test.runIf(isThorough)("PRJ-5 messages of the protocol are shown on request, which is remembered", async () => {
  await page.setViewportSize({ width: 1280, height: 800 });
  await open();
  await expect.poll(() => rows().count()).toBe(3);
  await page.getByRole("switch", { name: "Show protocol messages" }).click();
  await expect.poll(() => rows().count()).toBe(4);
  await page.reload();
  await expect.poll(() => rows().count()).toBe(4);
  await page.getByRole("switch", { name: "Show protocol messages" }).click();
  await expect.poll(() => rows().count()).toBe(3);
});

test.runIf(isThorough)("PRJ-5 a period is chosen on the chart, by keys and by dragging, and reset", async () => {
  await open("?timeRange=1h");
  const chart = page.getByRole("slider", { name: /Choose a period/ });
  await chart.focus();
  await page.keyboard.press("Home");
  for (let bars = 0; bars < 25; bars++) await page.keyboard.press("Shift+ArrowRight");
  await page.keyboard.press("Enter");
  await expect.poll(() => parameter("from")).not.toBeNull();
  await expect.poll(() => rows().count()).toBe(1);
  await page.getByText("weather").first().waitFor();
  await page.getByRole("button", { name: "Reset the time range" }).click();
  await expect.poll(() => rows().count()).toBe(3);
  expect([parameter("from"), parameter("to"), parameter("timeRange")]).toEqual([null, null, "1h"]);
  const box = await chart.boundingBox();
  if (!box) throw new Error("no chart");
  const at = (share: number) => [box.x + box.width * share, box.y + box.height / 2] as const;
  await page.mouse.move(...at(0.6));
  await page.mouse.down();
  await page.mouse.move(...at(0.8), { steps: 4 });
  await page.mouse.up();
  await expect.poll(() => parameter("to")).not.toBeNull();
  await expect.poll(() => rows().count()).toBe(1);
  await page.getByText("notes://1").first().waitFor();
});

test("PRJ-5 a list that is paused stands still, says how many rows are new, and shows them", async () => {
  await open();
  await expect.poll(() => rows().count()).toBe(3);
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByText("Paused").waitFor();
  await writeRequestLogs(site.pool, [row({ target: "late" })]);
  await page.getByRole("button", { name: "1 new" }).click();
  await page.getByText("late").first().waitFor();
  await page.getByText("Following", { exact: true }).waitFor();
});

test.runIf(isThorough)("PRJ-17 the log shows 100 rows, and the next ones on request", async () => {
  const now = Date.now();
  const many = Array.from({ length: 120 }, (_, at) => row({ time: now - minute - at * 100, target: "paged" }));
  await writeRequestLogs(site.pool, many);
  await open("?methodType=tool:paged");
  await expect.poll(() => rows().count()).toBe(100);
  await page.setViewportSize({ width: 360, height: 740 });
  const visible = () => rows().filter({ visible: true }).count();
  await expect.poll(visible).toBe(25);
  expect(await page.getByRole("button", { name: "Show older" }).isVisible()).toBe(false);
  await page.getByRole("button", { name: "Show more" }).click();
  await expect.poll(visible).toBe(50);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.getByRole("button", { name: "Show older" }).click();
  await expect.poll(() => rows().count()).toBe(120);
  await page.getByRole("button", { name: "Show older" }).waitFor({ state: "detached" });
});

test("PRJ-5 the shown rows are exported as JSON Lines and CSV, with names, and no others", async () => {
  const path = `/api/projects/${owner.organization.slug}/${project.name}/request-log`;
  const read = async (query: string) => {
    const response = await owner.visitor.request(`${path}?${query}`, {});
    return { status: response.status, text: await response.text() };
  };
  const lines = (await read("query=client:claude&withoutProtocol=true")).text.trim().split("\n");
  expect(lines.map((line) => JSON.parse(line)).map(({ target, caller }) => [target, caller.name])).toEqual([
    ["notes://1", "Anonymous"],
    ["echo", "Nightly CI"],
  ]);
  const csv = (await read("format=csv&isError=true")).text.trim().split("\r\n");
  expect([csv.length, csv[0]?.startsWith('"Time (UTC)"'), csv[1]?.includes('"weather"')]).toEqual([2, true, true]);
  expect(await read("query=tools:x")).toMatchObject({
    status: 422,
    text: expect.stringContaining("Did you mean tool:?"),
  });
  const key = { orgSlug: owner.organization.slug, projectName: project.name };
  const values = await callServerFunction(owner.visitor, "request-log.getLogValues", "GET", {
    ...key,
    timeRange: "24h",
  });
  for (const known of ["weather", "notes://1", "cursor", "Nightly CI", "Warm the canal"])
    expect(values.text).toContain(known);
});
