import { readFile } from "node:fs/promises";
import { recordHostIsolation } from "@towpath/core/operations/host-isolation";
import type { IsolationReport } from "@towpath/core/operations/host-isolation/schema";
import { recordHostStorage } from "@towpath/core/operations/host-storage";
import { beginScheduledBackup, endScheduledBackup } from "@towpath/core/operations/scheduled-backup";
import { seedProject } from "@towpath/core/testing";
import { currentRelease } from "@towpath/db/release";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { expectAccessible, expectAccessibleInBothThemes, openBrowser } from "./browser.ts";
import { openSite } from "./site.ts";
import { type Member, seededMember } from "./visitor.ts";

const site = openSite();
const browser = openBrowser();
let owner: Member;
let page: Page;

beforeAll(async () => {
  owner = await seededMember(site.url, site.db);
  await seedProject(site.db, owner.organization);
  page = await browser.signedInPage(site.url, owner);
});

const tried = [
  "no host files",
  "unprivileged user",
  "own network",
  "process limit",
  "disk limit",
  "system call filter",
];
const healthy = {
  isolatedBy: "gvisor" as const,
  trusted: true,
  checks: [...tried, "memory limit", "cpu limit"].map((name) => ({ name, ok: true, detail: "tried" })),
  exceptions: [],
  problems: [],
};
const weak = {
  ...healthy,
  checks: healthy.checks.map((check) =>
    check.name === "cpu limit" ? { ...check, ok: false, detail: "no control group enforces it" } : check,
  ),
  exceptions: [{ setting: "TOWPATH_ALLOW_WEAK_LIMITS=yes", meaning: "Servers run although it isn't enforced." }],
};
const report = (content: IsolationReport, at = new Date()) =>
  recordHostIsolation(site.db, { host: "one", report: content, at });

const open = async (path: string) => {
  await page.goto(`${site.url}/${owner.organization.slug}/${path}`);
  await page.getByRole("heading", { level: 1 }).waitFor();
};
const states = async () =>
  (await page.getByRole("list", { name: "Protections" }).getByRole("listitem").allInnerTexts()).map((text) => {
    const lines = text.split("\n").filter((line) => line !== "");
    return `${lines[0]}: ${lines.at(-1)}`;
  });

test.runIf(isThorough)(
  "RUN-1 the dashboard shows which protections are in force and which exceptions are set",
  async () => {
    await open("settings/instance");
    await page.getByText("Not known yet").waitFor();
    await report(healthy);
    await open("servers");
    await expect.poll(() => page.getByText("aren't fully isolated").count()).toBe(0);

    await report(weak);
    await open("servers");
    await page.getByText("Servers on this instance aren't fully isolated").waitFor();
    await page.getByText("They lack a CPU limit.").waitFor();
    await page.getByRole("link", { name: "See the details" }).click();
    await page.getByRole("list", { name: "Protections" }).waitFor();
    await page.getByText("Servers and builds run on gVisor's kernel, within bubblewrap.").waitFor();
    await expect
      .poll(() => states())
      .toEqual([
        "Files: In force",
        "Users: In force",
        "Network: In force",
        "Memory: In force",
        "CPU: Missing",
        "Processes: In force",
        "Disk: In force",
        "Lasting data: Not tested",
        "System calls: In force",
      ]);
    await page.getByText("cpu limit: no control group enforces it").waitFor();
    await page.getByText("TOWPATH_ALLOW_WEAK_LIMITS=yes").waitFor();
    for (const path of ["settings/instance", "servers"]) {
      await open(path);
      await expectAccessibleInBothThemes(page);
    }
  },
);

test.runIf(isThorough)("RUN-1 without a runner the panel says since when the state is unknown", async () => {
  await report(weak, new Date(Date.now() - 10 * 60_000));
  await open("settings/instance");
  await page.getByText("Unknown since 10m ago").waitFor();
  await expect
    .poll(async () => new Set((await states()).map((state) => state.split(": ")[1])))
    .toEqual(new Set(["Unknown"]));
  await expectAccessible(page);
  await page.setViewportSize({ width: 360, height: 800 });
  await open("servers");
  await page.getByRole("button", { name: "Menu" }).click();
  await expect
    .poll(() => page.getByRole("dialog").getByRole("link", { name: "Instance" }).getAttribute("href"))
    .toMatch(/\/settings\/instance$/);
  await expect.poll(() => page.getByText("aren't fully isolated").count()).toBe(0);
});

test("RUN-7 OPS-11 OPS-13 the page says what a cluster and its bucket lack, with the remedies", async () => {
  await page.setViewportSize({ width: 1280, height: 800 });
  const reached = "a server reaches 10.96.0.1:443";
  const problem = `Network policies are not enforced: ${reached}. Use a network plug-in that enforces them.`;
  const warning = "The bucket s3://layers needs attention. The key may not delete objects: allow s3:DeleteObject.";
  await report({
    ...healthy,
    isolatedBy: "pods",
    refuses: false,
    checks: [
      { name: "own user", ok: true, detail: "in force" },
      { name: "network policies", ok: false, detail: reached },
    ],
    problems: [problem],
    warnings: [warning],
  });
  await open("settings/instance");
  const under = (title: string) => page.getByText(title, { exact: true }).locator("..").textContent();
  await page.getByText("Servers and builds run in pods of a cluster.").waitFor();
  expect(await under("Servers and builds run without a protection")).toContain(problem);
  expect(await under("This instance lacks what it needs")).toContain(warning);
  expect((await states()).filter((state) => !state.endsWith("Not tested"))).toEqual([
    "Users: In force",
    "Network: Missing",
  ]);
  await expectAccessible(page);
});

test("RUN-1 the page says what gVisor costs, with the figures of the documentation", async () => {
  const guide = await readFile(new URL("../../../docs/operating.md", import.meta.url), "utf8");
  const [start, memory, calls] = ["start from nothing", "memory of a server", "calls a second"].map(
    (row) => new RegExp(`^\\| ${row}.* \\| 1 \\| ([\\d.]+) \\|$`, "m").exec(guide)?.[1],
  );
  await report(healthy);
  await open("settings/instance");
  const costs = page.getByText("Servers and builds run on gVisor's kernel, within bubblewrap.");
  expect(await costs.textContent()).toMatch(
    new RegExp(`a start takes ${start} times .* ${memory} times the memory, .* ${calls} times as many calls a second`),
  );
  await costs.getByRole("link", { name: "what gVisor costs" }).click();
  await page.getByRole("heading", { name: "gVisor", exact: true }).waitFor();
  expect(new URL(page.url()).hash).toBe("#gvisor");
});

test("LOG-6 BLD-18 while the disk is almost full the dashboard says so, and admins see what takes the space, and the Pythons", async () => {
  await page.setViewportSize({ width: 1280, height: 800 });
  const gibibyte = 1024 ** 3;
  const reportDisk = (low: boolean) =>
    recordHostStorage(site.db, {
      host: "one",
      at: new Date(),
      report: {
        totalBytes: 100 * gibibyte,
        freeBytes: gibibyte,
        availableBytes: gibibyte,
        reserveBytes: 2 * gibibyte,
        low,
        kinds: { artifacts: 60 * gibibyte, postgres: 300 * 1024 ** 2, run: 4096, logs: 0 },
        pythons: [
          { version: "3.13.9", isDownloaded: true },
          { version: "3.11.2", isDownloaded: false },
        ],
      },
    });
  await reportDisk(false);
  await open("servers");
  await expect.poll(() => page.getByText("disk is almost full").count()).toBe(0);
  await reportDisk(true);
  await open("servers");
  await page.getByText("disk is almost full, so no new builds start").waitFor();
  await expectAccessible(page);
  await page.getByRole("link", { name: "See what uses the space" }).click();
  await page.getByText("1.0 GB left for Towpath. Below 2.0 GB, builds don't start.").waitFor();
  const directories = await page.getByRole("list", { name: "Directories" }).getByRole("listitem").allInnerTexts();
  expect(directories.map((text) => text.replace(/\s*\n\s*/g, ": "))).toEqual([
    "Layers of deployments: 60.0 GB",
    "Database: 300 MB",
    "Sockets and control files: < 1 MB",
    "Logs of Towpath's processes: 0 MB",
  ]);
  const pythons = await page.getByRole("list", { name: "Python versions" }).getByRole("listitem").allInnerTexts();
  expect(pythons).toEqual(["3.13.9, downloaded", "3.11.2"]);
  await expectAccessible(page);
});

test("OPS-3 the Instance page names version, commit and schema of the release", async () => {
  await open("settings/instance");
  const release = page.getByRole("region", { name: "Release" });
  const { version, commit, schema } = currentRelease();
  await release.getByText(version, { exact: true }).waitFor();
  expect(await release.getByRole("definition").allInnerTexts()).toEqual([version, commit, schema]);
});

test.runIf(isThorough)(
  "OPS-3 the Instance page shows the last scheduled back-up, and in red one that failed or is too old",
  async () => {
    const card = page.getByLabel("Back-ups", { exact: true });
    const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);
    await open("settings/instance");
    await card.getByText("None are made by schedule.").waitFor();
    expect(await card.getByRole("link").getAttribute("href")).toBe("/docs/operating#back-ups");
    await beginScheduledBackup(site.db, { everyHours: 24, now: hoursAgo(3) });
    await open("settings/instance");
    await card.getByText("Not made yet").waitFor();
    const made = { name: "towpath-20261126T090000Z.age", bytes: 12_340_000 };
    await endScheduledBackup(site.db, { now: hoursAgo(2), problem: null, made });
    await open("settings/instance");
    await card.getByText("Up to date").waitFor();
    await card.getByText("The last one was made 2h ago: towpath-20261126T090000Z.age, 12.3 MB.").waitFor();
    await expectAccessibleInBothThemes(page);
    await endScheduledBackup(site.db, { now: hoursAgo(1), problem: "The disk is full.", made: null });
    await open("settings/instance");
    await card.getByText("Failed", { exact: true }).waitFor();
    await card.getByText("The newest attempt failed: The disk is full. It is repeated").waitFor();
    await endScheduledBackup(site.db, { now: hoursAgo(49), problem: null, made });
    await open("settings/instance");
    await card.getByText("Too old").waitFor();
    await card.getByText("so the worker may not run").waitFor();
    await expectAccessible(page);
  },
);
