import { branch, build, deployment, project } from "@towpath/db/schema";
import { and, eq, isNull } from "drizzle-orm";
import { beforeEach, expect, test } from "vitest";
import { isThorough } from "../../../../../tests/thorough.ts";
import { syncBranch } from "../../sources/webhook/index.ts";
import { GitHubModel } from "../../testing/github-model.ts";
import { ReportsModel } from "../../testing/github-reports.ts";
import { memoryQueue, sampleManifest, shaOf, succeedBuild } from "../../testing/index.ts";
import { openProjectSuite } from "../../testing/project-suite.ts";
import { cancelBuild, startBuild } from "../build/index.ts";
import { approveDeployment, makeDeploymentLive } from "../deployment/index.ts";
import { changeRelease, saveReleasePolicy } from "../gradual-release/index.ts";
import { reportBranch } from "./index.ts";

const suite = openProjectSuite();
let reports: ReportsModel;
let model: GitHubModel;
beforeEach(() => {
  reports = new ReportsModel();
  model = new GitHubModel({
    repositoryId: suite.project.repositoryId,
    installationId: suite.organization.installationId,
  });
  model.heads.set("main", "main");
});

const job = () => suite.as({ kind: "job", job: "test" }, { repositories: model.host });
const db = () => suite.database.db;
const branchIdOf = async (name: string) => {
  const [row] = await db()
    .select({ id: branch.id })
    .from(branch)
    .where(and(eq(branch.projectId, suite.project.id), eq(branch.name, name)));
  return row?.id ?? "";
};
const report = async (name: string) =>
  reportBranch({
    ctx: job(),
    input: { branchId: await branchIdOf(name), reporter: reports, postState: async () => {} },
  });

/** Starts a build of a branch's head and gives it tools; returns its id. */
async function start(name: string, commit: string, tools: readonly string[] = ["echo"]): Promise<string> {
  const input = { ...suite.at(), branch: name, commitSha: shaOf(commit) };
  const { build: started } = await startBuild({ ctx: suite.as(suite.organization.owner), input });
  await db()
    .update(branch)
    .set({ pullRequestNumber: name === "main" ? null : 7 })
    .where(eq(branch.id, await branchIdOf(name)));
  const [sample] = sampleManifest().tools;
  const manifest = { ...sampleManifest(), tools: tools.map((tool_name) => ({ ...sample, tool_name })) };
  manifests.set(started.id, manifest);
  return started.id;
}
const manifests = new Map<string, unknown>();

async function finish(buildId: string): Promise<void> {
  await succeedBuild(db(), buildId);
  await db()
    .update(build)
    .set({ manifest: manifests.get(buildId) })
    .where(eq(build.id, buildId));
}
const deploy = async (name: string, commit: string, tools?: readonly string[]) => {
  const id = await start(name, commit, tools);
  await finish(id);
  await report(name);
  return id;
};
const comment = () => [...reports.comments.values()];

test("BLD-8 a preview has a check, a deployment and one comment, which follow it and are sent once", async () => {
  await deploy("main", "main");
  const first = await start("topic", "one", ["echo", "more"]);
  await report("topic");
  expect(reports.checkOf(shaOf("one"))).toMatchObject({ status: "queued", conclusion: null, externalId: first });
  await finish(first);
  await report("topic");
  const url = `http://localhost:8080/${suite.project.name}-topic/mcp`;
  expect(reports.checkOf(shaOf("one"))).toMatchObject({ conclusion: "success", title: "Live: 1 added" });
  const [production, preview] = [...reports.deployments.values()];
  expect(production).toMatchObject({ environment: "production", transient: false, state: "success" });
  expect(preview).toMatchObject({ environment: "preview/topic", transient: true, environmentUrl: url });
  expect(preview?.logUrl).toBe(
    `https://towpath.example/${suite.organization.slug}/${suite.project.name}/build-logs/${first}`,
  );
  expect(comment()).toHaveLength(1);
  expect(comment()[0]?.body).toContain("- Added tool `more`.");
  expect(comment()[0]?.body).toMatch(/The list of tools has about \d+ tokens, before about \d+\./);

  const calls = reports.calls;
  await report("topic");
  expect(reports.calls).toBe(calls);

  await deploy("topic", "two", ["echo"]);
  expect(reports.stateOf).toEqual({
    [shaOf("main")]: "success",
    [shaOf("one")]: "inactive",
    [shaOf("two")]: "success",
  });
  expect(comment()).toHaveLength(1);
  expect(comment()[0]?.body).toContain("nothing changes for callers");
  // Somebody deletes it: the next change writes it again.
  reports.comments.clear();
  await deploy("topic", "three", ["echo", "third"]);
  expect(comment()).toHaveLength(1);

  // The branch goes, and with it the preview.
  await syncBranch({ ctx: job(), input: { projectId: suite.project.id, branch: "topic" } });
  await report("topic");
  expect(reports.stateOf[shaOf("three")]).toBe("inactive");
  expect(comment()[0]?.body).toContain("| Ended |");
});

test.runIf(isThorough)(
  "BLD-8 a canceled build, and a rollback to an earlier deployment, are reported as they are now",
  async () => {
    const first = await deploy("main", "one");
    await deploy("main", "two");
    const third = await start("main", "three");
    await report("main");
    await cancelBuild({ ctx: suite.as(suite.organization.owner), input: { buildId: third } });
    await report("main");
    expect(reports.checkOf(shaOf("three"))).toMatchObject({ conclusion: "cancelled", actions: [] });
    const { rows } = await suite.database.pool.query("SELECT id FROM deployment WHERE build_id = $1", [first]);
    await makeDeploymentLive({ ctx: suite.as(suite.organization.owner), input: { deploymentId: rows[0].id } });
    await report("main");
    expect(reports.stateOf).toEqual({ [shaOf("one")]: "success", [shaOf("two")]: "inactive" });
  },
);

test("BLD-8 a slow report can't overwrite a newer one: the second waits for it and reports the state of then", async () => {
  const buildId = await start("topic", "one");
  let arrived = () => {};
  let release = () => {};
  const arrival = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  const slow = new Promise<void>((resolve) => {
    release = resolve;
  });
  reports.before = async () => {
    arrived();
    await slow;
  };
  const older = report("topic");
  await arrival;
  await finish(buildId);
  expect(await report("topic")).toBe("busy");
  release();
  expect(await older).toBe("reported");
  expect(reports.checkOf(shaOf("one"))?.status).toBe("queued");
  expect(await report("topic")).toBe("reported");
  expect(reports.checkOf(shaOf("one"))).toMatchObject({ status: "completed", conclusion: "success" });
  expect(reports.checks.size).toBe(1);
});

test("BLD-8 a report that failed halfway is sent again, and every change of a build asks for one", async () => {
  const queue = memoryQueue({ withReports: true });
  const ctx = suite.as(suite.organization.owner, { queue });
  const { build: started } = await startBuild({ ctx, input: { ...suite.at(), branch: "main" } });
  const asked = () => queue.jobs.splice(0).flatMap(({ name, payload }) => (name === "branch.report" ? [payload] : []));
  expect(asked()).toEqual([{ branchId: suite.project.branchId }]);
  await cancelBuild({ ctx, input: { buildId: started.id } });
  expect(asked()).toEqual([{ branchId: suite.project.branchId }]);
  reports.before = async () => {
    throw new Error("GitHub is unreachable");
  };
  await expect(report("main")).rejects.toThrow("GitHub is unreachable");
  reports.before = async () => {};
  expect(await report("main")).toBe("reported");
  expect(reports.checkOf(started.commitSha)?.conclusion).toBe("cancelled");
});

test("BLD-8 one comment is about all servers of the organization that are deployed from the repository", async () => {
  await deploy("topic", "one");
  const other = { id: suite.project.id.replace(/.$/, (last) => (last === "0" ? "1" : "0")), name: "second-server" };
  const [first] = await db().select().from(project).where(eq(project.id, suite.project.id));
  if (!first) throw new Error("no project");
  await db()
    .insert(project)
    .values({ ...first, ...other });
  const at = { orgSlug: suite.organization.slug, projectName: other.name };
  const ctx = suite.as(suite.organization.owner);
  await startBuild({ ctx, input: { ...at, branch: "topic", commitSha: shaOf("one") } });
  await db().update(branch).set({ pullRequestNumber: 7 }).where(eq(branch.projectId, other.id));
  await report("topic");
  expect(comment()).toHaveLength(1);
  const rows =
    comment()[0]
      ?.body.split("\n")
      .filter((line) => line.startsWith("| ")) ?? [];
  expect(rows).toHaveLength(4);
  expect(rows.join("\n")).toMatch(/second-server \| \[Waits for its turn\]/);
});

const hostile = [
  "@everyone",
  "[click](javascript:alert(1))",
  "| a | b |",
  "`code` @team/all",
  "<img src=x onerror=alert(1)>",
  "\\`@org/team",
  "\\| <b>x</b>\n# heading @octocat",
  "\u202egnp.exe",
];

test("BLD-8 what strangers' code names can't become Markdown, HTML, a link or a mention", async () => {
  await deploy("main", "main");
  await deploy("topic", "one", ["echo", ...hostile]);
  const texts = [comment()[0]?.body ?? "", reports.checkOf(shaOf("one"))?.text ?? ""];
  for (const text of texts) {
    for (const line of text.split("\n"))
      expect(line.match(/`/g)?.length ?? 0, line).toSatisfy((n) => Number(n) % 2 === 0);
    const outside = text.replaceAll(/`[^`\n]*`/g, "").replace(/^<!--.*-->\n/, "");
    expect(outside).not.toMatch(/@|<(?!http)|javascript|heading|click|\u202e/);
    // Only ours are tables.
    expect(outside.split("\n").filter((line) => /^\| a/.test(line))).toEqual([]);
    for (const name of ["@everyone", "@octocat"]) expect(text).toContain(name);
  }
});

test("BLD-14 a setting makes the check of a preview fail that breaks callers of production", async () => {
  await deploy("main", "main", ["echo", "old"]);
  await deploy("topic", "one", ["echo"]);
  expect(reports.checkOf(shaOf("one"))).toMatchObject({
    conclusion: "neutral",
    title: "Live: 1 removed (1 can break calls)",
  });
  expect(reports.checkOf(shaOf("one"))?.text).toContain("- Removed tool `old`. **Can break existing calls.**");
  await db().update(project).set({ failOnBreakingChanges: true }).where(eq(project.id, suite.project.id));
  await report("topic");
  expect(reports.checkOf(shaOf("one"))).toMatchObject({
    conclusion: "failure",
    title: "Breaks existing calls: 1 removed",
  });
  // Additions break nobody, and what is in production is there already.
  await deploy("topic", "two", ["echo", "old", "new"]);
  expect(reports.checkOf(shaOf("two"))?.conclusion).toBe("success");
  await deploy("main", "less", ["echo"]);
  expect(reports.checkOf(shaOf("less"))?.conclusion).toBe("success");
});

test("BLD-15 a push that changes no watched path has a skipped check", async () => {
  await db()
    .update(project)
    .set({ watchPaths: ["src/**"] })
    .where(eq(project.id, suite.project.id));
  await deploy("main", "main");
  model.push("main", "docs only");
  model.changes.set("docs only", ["README.md"]);
  await syncBranch({ ctx: job(), input: { projectId: suite.project.id, branch: "main" } });
  await report("main");
  expect(reports.checkOf(shaOf("docs only"))).toMatchObject({
    conclusion: "skipped",
    title: "Skipped: changes no watched path",
  });
  const calls = reports.calls;
  await report("main");
  expect(reports.calls).toBe(calls);
});

test("BLD-8 without an installation, and for a branch that is gone, nothing is reported", async () => {
  await start("topic", "one");
  await db().update(project).set({ installationId: null }).where(eq(project.id, suite.project.id));
  expect(await report("topic")).toBe("reported");
  expect(reports.calls).toBe(0);
  const input = { branchId: suite.organization.id, reporter: reports, postState: async () => {} };
  expect(await reportBranch({ ctx: job(), input })).toBe("unknown");
  expect(await db().$count(build, isNull(build.endedAt))).toBeGreaterThan(0);
});

test("CAP-8 BLD-8 the check of a version says that it waits for an approval, which share it gets, and that it went back", async () => {
  await deploy("main", "one");
  const ctx = suite.as(suite.organization.owner);
  await saveReleasePolicy({ ctx, input: { ...suite.at(), isGradual: true, approval: "admin" } });
  const second = await deploy("main", "two");
  const check = () => reports.checkOf(shaOf("two"));
  expect(check()).toMatchObject({ conclusion: "action_required", title: "Waits for approval" });
  const [waiting] = await db().select().from(deployment).where(eq(deployment.buildId, second));
  await approveDeployment({ ctx, input: { deploymentId: waiting?.id ?? "" } });
  await report("main");
  expect(check()).toMatchObject({ conclusion: "success", title: "Gets 5 % of new sessions" });
  // The build ended long ago.
  await db()
    .update(build)
    .set({ endedAt: new Date(Date.now() - 5 * 3_600_000) })
    .where(eq(build.id, second));
  await changeRelease({ ctx, input: { ...suite.at(), action: "back" } });
  await report("main");
  expect(check()).toMatchObject({
    conclusion: "failure",
    title: "Went back",
    summary: expect.stringContaining("Somebody chose to go back."),
  });
  expect(reports.stateOf[shaOf("one")]).toBe("success");
});
