import { auditLog, branch, build, deployment, route } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../../../tests/thorough.ts";
import type { Actor } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import type { ServerHost } from "../../ports/index.ts";
import { listProjects } from "../../projects/project/index.ts";
import {
  finishBuild,
  liveCommit,
  refusalCode,
  type SeededOrganization,
  sampleDiagnosis,
  sampleOutcome,
  seedOrganization,
  seedProject,
  shaOf,
  testContext,
} from "../../testing/index.ts";
import { openProjectSuite } from "../../testing/project-suite.ts";
import { failBuild, startBuild, takeBuild } from "../build/index.ts";
import {
  createDeployment,
  getCurrentBuild,
  getDeployment,
  getServerStatus,
  listBranchesWithDeployments,
  makeDeploymentLive,
} from "./index.ts";

const suite = openProjectSuite();
let others: SeededOrganization;
beforeAll(async () => {
  others = await seedOrganization(suite.database.db);
});

const as = (actor: Actor) => testContext(suite.database.db, actor);
const worker = () => as({ kind: "job", job: "build.run" });
const makeLive = (deploymentId: string, actor: Actor = suite.organization.owner) =>
  makeDeploymentLive({ ctx: as(actor), input: { deploymentId } });

const withHost = (serverHost: ServerHost) => testContext(suite.database.db, suite.organization.owner, { serverHost });

async function start(project: { readonly name: string }, name: string, branchName = "main") {
  const input = {
    orgSlug: suite.organization.slug,
    projectName: project.name,
    branch: branchName,
    commitSha: shaOf(name),
  };
  return (await startBuild({ ctx: as(suite.organization.owner), input })).build.id;
}
async function take(buildId: string) {
  const taken = await takeBuild({ ctx: worker(), input: { buildId } });
  return { buildId, attempt: taken?.attempt ?? -1 };
}
/** Builds and rolls out a commit; its deployment. */
async function deploy(project: { readonly name: string }, name: string, branchName = "main"): Promise<string> {
  const buildId = await start(project, name, branchName);
  await finishBuild(suite.database.db, await take(buildId));
  const [row] = await suite.database.db.select().from(deployment).where(eq(deployment.buildId, buildId));
  return row?.id ?? "";
}

/** What overview, deployments and the list of servers say of what is live. */
async function shownOf({ name: projectName }: { readonly name: string }) {
  const call = { ctx: as(suite.organization.owner), input: { orgSlug: suite.organization.slug, projectName } };
  const [main] = await listBranchesWithDeployments(call);
  const listed = await listProjects({
    ...call,
    input: { orgSlug: suite.organization.slug, type: "all", text: projectName },
  });
  return [(await getServerStatus(call)).live, main?.liveBuild, listed[0]?.rolledBackTo];
}

test("PRJ-14 an earlier deployment is live again without a build, and forward again", async () => {
  const project = await seedProject(suite.database.db, suite.organization);
  const [first, second] = [await deploy(project, "first"), await deploy(project, "second")];
  const builds = await suite.database.db.$count(build, eq(build.projectId, project.id));
  expect(await makeLive(first)).toMatchObject({ id: first, isLive: true, isProd: true });
  expect(await liveCommit(suite.database.db, project.branchId)).toBe(shaOf("first"));
  const rolledBack = { isRolledBack: true, rolledBackFrom: { deploymentId: second, commitSha: shaOf("second") } };
  expect(await shownOf(project)).toMatchObject([rolledBack, rolledBack, { commitSha: shaOf("first") }]);
  expect((await getDeployment({ ctx: as(suite.organization.owner), input: { deploymentId: second } })).isLive).toBe(
    false,
  );
  await makeLive(second);
  expect(await liveCommit(suite.database.db, project.branchId)).toBe(shaOf("second"));
  const forward = { isRolledBack: false, rolledBackFrom: null };
  expect(await shownOf(project)).toMatchObject([forward, forward, null]);
  expect(await suite.database.db.$count(build, eq(build.projectId, project.id))).toBe(builds);
  expect(await suite.database.db.select().from(route).where(eq(route.projectId, project.id))).toHaveLength(1);
  const audits = await suite.database.db
    .select()
    .from(auditLog)
    .where(eq(auditLog.action, "deployment.make-live"))
    .orderBy(auditLog.id);
  expect(audits.filter(({ projectId }) => projectId === project.id)).toMatchObject([
    { subject: first, detail: { before: second, commit: shaOf("first"), branch: "main", label: project.name } },
    { subject: second, detail: { before: first } },
  ]);
});

test("PRJ-14 BLD-11 after a rollback the next push goes live, and a build that was overtaken still does not", async () => {
  const project = await seedProject(suite.database.db, suite.organization);
  const first = await deploy(project, "first");
  const slow = await take(await start(project, "slow"));
  await deploy(project, "third");
  await makeLive(first);
  expect(await finishBuild(suite.database.db, slow)).toEqual({ outcome: "overtaken" });
  expect(await liveCommit(suite.database.db, project.branchId)).toBe(shaOf("first"));
  await deploy(project, "fourth");
  expect(await liveCommit(suite.database.db, project.branchId)).toBe(shaOf("fourth"));
});

test("PRJ-14 PRJ-7 the project's pages list what the live deployment offers, not the newest build", async () => {
  const project = await seedProject(suite.database.db, suite.organization);
  const first = await deploy(project, "first");
  const current = async () =>
    (
      await getCurrentBuild({
        ctx: as(suite.organization.owner),
        input: { orgSlug: suite.organization.slug, projectName: project.name, branchId: null },
      })
    )?.commitSha;
  await deploy(project, "second");
  expect(await current()).toBe(shaOf("second"));
  await makeLive(first);
  expect(await current()).toBe(shaOf("first"));
});

test("PRJ-14 a preview is rolled back under its own label, and production stays", async () => {
  const project = await seedProject(suite.database.db, suite.organization);
  await deploy(project, "main");
  const first = await deploy(project, "one", "feature");
  await deploy(project, "two", "feature");
  expect(await makeLive(first)).toMatchObject({ isLive: true, isBranch: true, slug: `${project.name}-feature` });
  expect(await liveCommit(suite.database.db, project.branchId)).toBe(shaOf("main"));
});

test("PRJ-14 what can't be made live says why: live already, an ended branch, the other environment, never live", async () => {
  const project = await seedProject(suite.database.db, suite.organization);
  const first = await deploy(project, "first");
  await expect(makeLive(first)).rejects.toThrow("This deployment is already live.");
  const preview = await deploy(project, "preview", "gone");
  await deploy(project, "preview 2", "gone");
  await suite.database.db.update(branch).set({ endedAt: new Date() }).where(eq(branch.name, "gone"));
  await expect(makeLive(preview)).rejects.toThrow(/branch gone was deleted/);
  // The default branch has changed: what was built of it as a preview has a preview's variables.
  await suite.database.db.update(branch).set({ endedAt: null, isDefault: true }).where(eq(branch.name, "gone"));
  await suite.database.db.update(branch).set({ isDefault: false }).where(eq(branch.id, project.branchId));
  await expect(makeLive(preview)).rejects.toThrow(/variables of preview.*Rebuild/);
  await suite.database.db.update(branch).set({ isDefault: true }).where(eq(branch.id, project.branchId));
  await suite.database.db.update(branch).set({ isDefault: false }).where(eq(branch.name, "gone"));
  const unfinished = await take(await start(project, "unfinished"));
  const made = await createDeployment({ ctx: worker(), input: sampleOutcome(unfinished) });
  await failBuild({ ctx: worker(), input: { ...unfinished, diagnosis: sampleDiagnosis } });
  await expect(makeLive(made?.deploymentId ?? "")).rejects.toThrow(/never live/);
});

test("PRJ-14 others and viewers can't: not found, and forbidden", async () => {
  const project = await seedProject(suite.database.db, suite.organization);
  const first = await deploy(project, "first");
  await deploy(project, "second");
  expect(await refusalCode(makeLive(first, others.owner))).toBe("not_found");
  expect(await refusalCode(makeLive(first, await suite.organization.join("viewer")))).toBe("forbidden");
  expect(await refusalCode(makeLive("nonsense"))).toBe("not_found");
  expect(await liveCommit(suite.database.db, project.branchId)).toBe(shaOf("second"));
});

test("PRJ-14 of a push and a rollback at the same time one goes live completely, and the later one gets a conflict", async () => {
  for (let round = 0; round < 5; round++) {
    const project = await seedProject(suite.database.db, suite.organization);
    const first = await deploy(project, "first");
    await deploy(project, "second");
    const next = await take(await start(project, "third"));
    const [back] = await Promise.allSettled([makeLive(first), finishBuild(suite.database.db, next)]);
    if (back.status === "rejected") expect(back.reason).toMatchObject({ code: "conflict" });
    const live = await liveCommit(suite.database.db, project.branchId);
    expect(back.status === "rejected" ? [shaOf("third")] : [shaOf("first"), shaOf("third")]).toContain(live);
  }
});

/** A server that takes a while to start. */
function slowServer() {
  const [asked, started] = [Promise.withResolvers<string>(), Promise.withResolvers<void>()];
  const verify = (id: string) => {
    asked.resolve(id);
    return started.promise;
  };
  return { host: { verify }, asked: asked.promise, started };
}

test("PRJ-14 BLD-10 the route moves once the earlier version's server has answered, and not at all if it doesn't", async () => {
  const project = await seedProject(suite.database.db, suite.organization);
  const first = await deploy(project, "first");
  await deploy(project, "second");
  const roll = (host: ServerHost) => makeDeploymentLive({ ctx: withHost(host), input: { deploymentId: first } });
  const broken = slowServer();
  const failed = roll(broken.host);
  expect(await broken.asked).toBe(first);
  expect(await liveCommit(suite.database.db, project.branchId)).toBe(shaOf("second"));
  broken.started.reject(new TowpathError("conflict", "It exited with status 1."));
  await expect(failed).rejects.toThrow("It exited with status 1.");
  expect(await liveCommit(suite.database.db, project.branchId)).toBe(shaOf("second"));
  const slow = slowServer();
  const rolled = roll(slow.host);
  await slow.asked;
  slow.started.resolve();
  await rolled;
  expect(await liveCommit(suite.database.db, project.branchId)).toBe(shaOf("first"));
});

test.runIf(isThorough)(
  "PRJ-14 of two rollbacks, and of a rollback and a build, the first to go live stays, and the other gets a conflict",
  async () => {
    const project = await seedProject(suite.database.db, suite.organization);
    const [first, second] = [await deploy(project, "first"), await deploy(project, "second")];
    await deploy(project, "third");
    const roll = (host: ServerHost) => makeDeploymentLive({ ctx: withHost(host), input: { deploymentId: first } });
    const besideAnother = slowServer();
    const late = roll(besideAnother.host);
    await besideAnother.asked;
    await makeLive(second);
    besideAnother.started.resolve();
    await expect(late).rejects.toThrow(/Another version went live while this one's server started/);
    expect(await liveCommit(suite.database.db, project.branchId)).toBe(shaOf("second"));
    const besideBuild = slowServer();
    const overtaken = roll(besideBuild.host);
    await besideBuild.asked;
    await deploy(project, "fourth");
    besideBuild.started.resolve();
    expect(await refusalCode(overtaken)).toBe("conflict");
    expect(await liveCommit(suite.database.db, project.branchId)).toBe(shaOf("fourth"));
  },
);

test("PRJ-14 what may not go live starts no server, and a process without a runner says so", async () => {
  const project = await seedProject(suite.database.db, suite.organization);
  const [first, second] = [await deploy(project, "first"), await deploy(project, "second")];
  const started: string[] = [];
  const host = { verify: async (id: string) => void started.push(id) };
  for (const [deploymentId, actor] of [
    [second, suite.organization.owner],
    [first, others.owner],
    [first, await suite.organization.join("viewer")],
  ] as const) {
    const ctx = testContext(suite.database.db, actor, { serverHost: host });
    await expect(makeDeploymentLive({ ctx, input: { deploymentId } })).rejects.toThrow();
  }
  expect(started).toEqual([]);
  const ctx = testContext(suite.database.db, suite.organization.owner, { serverHost: null });
  expect(await refusalCode(makeDeploymentLive({ ctx, input: { deploymentId: first } }))).toBe("not_configured");
});
