import { newId } from "@towpath/core/ids";
import { sampleManifest, seedLiveProject, seedLiveVersion, shaOf } from "@towpath/core/testing";
import { branch, build, buildLog, project } from "@towpath/db/schema";
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
let owner: Member;

beforeAll(async () => {
  owner = await seededMember(site.url, site.db);
  page = await browser.signedInPage(site.url, owner);
});

const see = (text: string | RegExp) => page.getByText(text).first().waitFor();

/** A live build and a failed one without an entrypoint, with logs; and a preview with an additional tool. */
async function projectWithFailedBuild() {
  const { db } = site;
  const own = await seedLiveProject(db, owner.organization);
  const [live] = await db.select().from(build).where(eq(build.projectId, own.id));
  const failedId = newId();
  const commit = { projectId: own.id, branchId: own.branchId, trigger: "push", entrypoint: "absent.py" };
  const diagnosis = {
    code: "entrypoint_not_found",
    phase: "plan",
    title: "The entrypoint absent.py doesn't exist",
    detail: "The commit has 1 Python file.",
    remedy: "Set the entrypoint.",
    file: "absent.py",
    line: null,
    excerpt: null,
    action: { kind: "entrypoint", candidates: ["server.py:service"] },
  };
  await db.insert(build).values({
    ...commit,
    id: failedId,
    sequence: 2,
    status: "failed",
    commitSha: shaOf("broken"),
    diagnosis,
    commitMessage: "Break it",
    startedAt: new Date(),
    endedAt: new Date(),
  });
  const logLine = (buildId: string, line: number, phase: string, kind: string, text: string) => ({
    buildId,
    line,
    phase,
    kind,
    text,
    time: new Date(),
  });
  await db
    .insert(buildLog)
    .values([
      logLine(failedId, 1, "fetch", "step", "Source: 3 files."),
      logLine(failedId, 2, "fetch", "result", "3 files"),
      logLine(live?.id ?? "", 1, "install", "step", "Dependencies: no layer abc yet, so they are installed."),
      logLine(live?.id ?? "", 2, "install", "output", " + fastmcp==4.1.2"),
      logLine(live?.id ?? "", 3, "install", "output", " + idna==3.10"),
      logLine(live?.id ?? "", 4, "install", "result", "2 packages installed"),
    ]);
  const [previewBranch, previewBuild] = [newId(), newId()];
  await db.insert(branch).values({ id: previewBranch, projectId: own.id, name: "feature" });
  const [tool] = sampleManifest().tools;
  await seedLiveVersion(
    db,
    { id: own.id, branchId: previewBranch },
    {
      label: `${own.name}-feature`,
      environment: "preview",
      id: previewBuild,
      entrypoint: "absent.py",
      commitSha: shaOf("better"),
      manifest: { ...sampleManifest(), tools: [tool, { ...tool, tool_name: "forecast" }] },
      layers: { pythonVersion: "3.12.1", dependencies: "a".repeat(64), code: "b".repeat(64) },
      commitMessage: "Add a forecast",
    },
  );
  return { name: own.name, liveId: live?.id ?? "", failedId, previewBuild, diagnosis };
}

test("BLD-2 BLD-13 PRJ-3 a build's page: a line for each phase, packages folded, a remedy that rebuilds, and cancelling", async () => {
  const { name, liveId, failedId, diagnosis } = await projectWithFailedBuild();
  const at = (id: string) => `${site.url}/${owner.organization.slug}/${name}/build-logs/${id}`;
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(at(liveId));
  const phases = page.getByRole("list", { name: "Phases of the build" });
  await phases.getByText("2 packages installed").click();
  await phases.getByText("idna 3.10").waitFor();
  const log = page.getByRole("region", { name: "Build log" });
  await log.getByText("so they are installed").waitFor();
  await expect.poll(() => log.getByText("idna==3.10").count()).toBe(0);
  await page.getByRole("button", { name: "Show packages" }).click();
  await log.getByText("idna==3.10").waitFor();
  await expectAccessible(page);

  await page.goto(at(failedId));
  await see("Your live version is unaffected.");
  await expectAccessible(page);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.getByRole("button", { name: "Set entrypoint to server.py:service and rebuild" }).click();
  await see("Waiting for a free worker.");
  const [settings] = await site.db.select().from(project).where(eq(project.name, name));
  expect(settings?.entrypoint).toBe("server.py:service");
  await page.getByRole("button", { name: "Cancel build" }).click();
  await see("This build was canceled");
  await log.getByText("Canceled by an organization member.").waitFor();

  const failWith = (changes: object) =>
    site.db
      .update(build)
      .set({ diagnosis: { ...diagnosis, ...changes } })
      .where(eq(build.id, failedId));
  await failWith({ line: 4, action: { kind: "code", path: "src/my server.py" } });
  await page.goto(at(failedId));
  await see("Your live version is unaffected.");
  expect(await page.getByRole("button", { name: "Rebuild" }).count()).toBe(0);
  for (const action of [{ kind: "rebuild" }, { kind: "operator" }, { kind: "settings", section: "build" }]) {
    await failWith({ action });
    await page.goto(at(failedId));
    await page.getByRole("button", { name: "Rebuild" }).waitFor();
  }
  await failWith({ action: { kind: "root-directory", candidates: ["servers/one", "servers/two"] } });
  await page.goto(at(failedId));
  await page.getByRole("button", { name: "Set root directory to servers/two and rebuild" }).click();
  await see("Waiting for a free worker.");
  const [rooted] = await site.db.select().from(project).where(eq(project.name, name));
  expect(rooted?.rootDirectory).toBe("servers/two");
  await page.goto(at(newId()));
  await see("Build not found");
});

test.runIf(isThorough)(
  "PRJ-3 UI-4 while a build runs its newest line is in view, its own branch is shown, and a long message ends in an ellipsis",
  async () => {
    const { name, previewBuild } = await projectWithFailedBuild();
    const [preview] = await site.db.select().from(build).where(eq(build.id, previewBuild));
    if (!preview) throw new Error("no preview");
    const buildId = newId();
    await site.db.insert(build).values({
      ...preview,
      id: buildId,
      sequence: 2,
      status: "building",
      startedAt: new Date(),
      commitMessage: "Answer ".repeat(40),
      commitSha: shaOf("running"),
      updatedAt: new Date(Date.now() + 3_600_000),
    });
    await site.db.insert(buildLog).values(
      Array.from({ length: 80 }, (_, index) => ({
        buildId,
        line: index + 1,
        phase: "install",
        kind: index === 79 ? "step" : "output",
        time: new Date(),
        text: index === 79 ? "Attempt 2: with mcp<2." : `Line ${index + 1}`,
      })),
    );
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.goto(`${site.url}/${owner.organization.slug}/${name}/build-logs/${buildId}`);
    const newest = page.getByRole("region", { name: "Build log" }).getByText("Attempt 2: with mcp<2.");
    await newest.waitFor();
    await expect
      .poll(async () => {
        const box = await newest.boundingBox();
        return (
          box !== null && box.y > 0 && box.y + box.height <= 800 && (await page.evaluate(() => window.scrollY)) === 0
        );
      })
      .toBe(true);
    await page.getByRole("list", { name: "Phases of the build" }).getByText("Attempt 2: with mcp<2.").first().waitFor();
    await expect.poll(() => page.getByRole("button", { name: /Switch branch/ }).textContent()).toContain("feature");
    const title = page.getByRole("heading", { level: 1 });
    expect((await title.boundingBox())?.height).toBeLessThan(48);
    await expectAccessible(page);
  },
);

test.runIf(isThorough)(
  "PRJ-14 BLD-14 PRJ-2 a preview is promoted from the list: it says what changes for callers, and shows its build",
  async () => {
    const { name, previewBuild } = await projectWithFailedBuild();
    const here = `${site.url}/${owner.organization.slug}/${name}`;
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.goto(`${here}/deployments`);
    const preview = page.getByRole("list", { name: "Previews" }).getByRole("listitem");
    await preview.getByText(shaOf("better").slice(0, 7)).waitFor();
    await preview.getByRole("button", { name: "Connect" }).click();
    await page.getByRole("dialog", { name: `Connect to feature of ${name}` }).waitFor();
    await page.keyboard.press("Escape");
    await preview.getByRole("button", { name: "Promote to production" }).click();
    const dialog = page.getByRole("dialog", { name: "Promote this version to production?" });
    await dialog.getByText("Added tool").waitFor({ state: "attached" });
    await dialog.getByText("forecast", { exact: true }).waitFor();
    await dialog.getByText(/^The list of tools has about \d+ tokens/).waitFor();
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Promote to production" }).click();
    await page.waitForURL(/\/build-logs\//);
    await see(/Promotion by/);
    await page.getByRole("link", { name: "preview", exact: true }).click();
    await page.waitForURL(`**/${previewBuild}`);
    await page.getByRole("region", { name: "What changes for callers" }).waitFor();
  },
);
