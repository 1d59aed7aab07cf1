import { auditLog, branch, build } from "@towpath/db/schema";
import { createSecretBox } from "@towpath/secrets";
import { and, eq } from "drizzle-orm";
import { beforeEach, expect, test } from "vitest";
import type { Actor } from "../../context/index.ts";
import { redeployBuild, startBuild, takeBuild } from "../../delivery/build/index.ts";
import { listBranchesWithDeployments, promoteDeployment } from "../../delivery/deployment/index.ts";
import { actFromCheck, reportBranch } from "../../delivery/report/index.ts";
import { listProjects } from "../../projects/project/index.ts";
import { pinEnvironment } from "../../projects/secret/index.ts";
import type { GitHubModel } from "../../testing/github-model.ts";
import { ReportsModel } from "../../testing/github-reports.ts";
import {
  liveCommit,
  refusalCode,
  seedOrganization,
  seedSecrets,
  shaOf,
  succeedBuild,
  testContext,
} from "../../testing/index.ts";
import { webhookScene } from "../../testing/play-webhooks.ts";
import { openProjectSuite } from "../../testing/project-suite.ts";
import { recordGitHubUser } from "../installation/index.ts";
import { decideForkPullRequest, listForkPullRequests } from "./index.ts";

const secrets = createSecretBox({ current: "a root secret for tests, at least 32 characters", previous: [] });
const suite = openProjectSuite({ secrets });
const scene = webhookScene(() => ({ db: suite.database.db, organization: suite.organization }));
let github: GitHubModel;
beforeEach(() => {
  github = scene.gitHubOf(suite.project);
});

const db = () => suite.database.db;
const job = () => suite.as({ kind: "job", job: "test" });
const list = () => listForkPullRequests({ ctx: suite.as(suite.organization.owner), input: suite.at() });
const decide = (commit: string, decision: "approve" | "decline" = "approve", actor: Actor = suite.organization.owner) =>
  decideForkPullRequest({
    ctx: suite.as(actor),
    input: { ...suite.at(), number: 7, commitSha: shaOf(commit), decision },
  });
const branchId = async () => (await scene.branchOf(suite.project, "pull:7"))?.id ?? "";
const buildsOf = async () => {
  const rows = await db()
    .select({ commitSha: build.commitSha, status: build.status })
    .from(build)
    .where(eq(build.branchId, await branchId()))
    .orderBy(build.sequence);
  return rows.map(({ commitSha, status }) => [commitSha, status]);
};

/** As lists of servers tell it. */
const waitingOf = async () => {
  const items = await listProjects({
    ctx: suite.as(suite.organization.owner),
    input: { orgSlug: suite.organization.slug },
  });
  return items.find(({ name }) => name === suite.project.name)?.waitingForkPullRequests;
};

test("BLD-9 a pull request from a fork waits until a member approves its commit; a push waits again", async () => {
  github.pushToFork(7, "A");
  expect(await scene.settle(github)).toEqual([]);
  expect(await list()).toMatchObject([
    { number: 7, state: "waiting", commitSha: shaOf("A"), author: "mallory", repository: "mallory/echo" },
  ]);
  expect(await waitingOf()).toBe(1);
  expect(await refusalCode(decide("other"))).toBe("conflict");
  const { buildId } = await decide("A");
  expect(await waitingOf()).toBe(0);
  // A push while the approved build is queued: it is canceled, and the new commit waits.
  github.pushToFork(7, "B");
  expect(await scene.settle(github)).toEqual([]);
  expect(await buildsOf()).toEqual([[shaOf("A"), "canceled"]]);
  expect(await list()).toMatchObject([{ state: "waiting", commitSha: shaOf("B"), decidedBy: null }]);
  expect(await refusalCode(decide("A"))).toBe("conflict");
  expect(
    await refusalCode(redeployBuild({ ctx: suite.as(suite.organization.owner), input: { buildId: buildId ?? "" } })),
  ).toBe("conflict");
  const approved = await decide("B");
  await succeedBuild(db(), approved.buildId ?? "");
  expect(await liveCommit(db(), await branchId())).toBe(shaOf("B"));
  expect(await refusalCode(decide("B"))).toBe("conflict");
  // Deliveries that come twice change nothing.
  github.pushToFork(7, "B");
  expect(await scene.settle(github)).toEqual([]);
  expect(await list()).toMatchObject([{ state: "approved", decidedBy: "Ada" }]);
  const actions = await db().select().from(auditLog).where(eq(auditLog.projectId, suite.project.id));
  expect(actions.filter(({ action }) => action === "fork.approve")).toHaveLength(2);
});

test("BLD-9 ORG-10 closing ends the preview and the approval: reopened, the same commit waits again", async () => {
  github.pushToFork(7, "A");
  await scene.settle(github);
  const { buildId } = await decide("A");
  await succeedBuild(db(), buildId ?? "");
  github.closeFork(7);
  await scene.settle(github);
  expect(await liveCommit(db(), await branchId())).toBeNull();
  expect(await list()).toEqual([]);
  expect(await refusalCode(decide("A"))).toBe("conflict");
  github.pushToFork(7, "A");
  expect(await scene.settle(github)).toEqual([]);
  expect(await list()).toMatchObject([{ state: "waiting", commitSha: shaOf("A") }]);
  await decide("A", "decline");
  expect(await list()).toMatchObject([{ state: "declined" }]);
  expect(await refusalCode(decide("A", "decline"))).toBe("conflict");
  const declined = and(eq(auditLog.projectId, suite.project.id), eq(auditLog.action, "fork.decline"));
  expect(await db().$count(auditLog, declined)).toBe(1);
  expect((await decide("A")).buildId).not.toBeNull();
});

test("BLD-9 a build of a fork gets no variables and a cache of its own, and is never promoted or started by its branch", async () => {
  await seedSecrets(db(), secrets, suite.project.id, { API_KEY: "very secret" });
  github.pushToFork(7, "A");
  await scene.settle(github);
  const { buildId } = await decide("A");
  const taken = await takeBuild({ ctx: job(), input: { buildId: buildId ?? "" } });
  expect(taken).toMatchObject({
    environment: "preview",
    organizationId: suite.organization.id,
    cacheOwnerId: await branchId(),
  });
  const fence = { buildId: buildId ?? "", attempt: taken?.attempt ?? 0, projectId: suite.project.id };
  expect(await pinEnvironment({ ctx: job(), input: { ...fence, environment: "preview" } })).toEqual({});
  const [row] = await db().select().from(build).where(eq(build.id, fence.buildId));
  // An empty list, not null: the server gets these and no others whenever it starts.
  expect(row?.secretVersionIds).toEqual([]);
  const ctx = suite.as(suite.organization.owner);
  const direct = startBuild({ ctx, input: { ...suite.at(), branch: "pull:7", commitSha: shaOf("evil") } });
  expect(await refusalCode(direct)).toBe("conflict");
  await db().update(build).set({ status: "queued" }).where(eq(build.id, fence.buildId));
  await succeedBuild(db(), fence.buildId);
  const [preview] = await listBranchesWithDeployments({ ctx, input: suite.at() }).then((all) =>
    all.filter(({ name }) => name === "pull:7"),
  );
  const promoted = promoteDeployment({ ctx, input: { deploymentId: preview?.deployment?.id ?? "" } });
  await expect(promoted).rejects.toThrow("Merge the pull request");
});

test("BLD-9 a fork is recognized by its repository's number: a renamed one, a deleted one and one with a commit of the repository wait as well", async () => {
  github.push("main", "same");
  const [own = ""] = await scene.settle(github);
  await succeedBuild(db(), own);
  // The head is a commit that the repository's own branch has built.
  github.pushToFork(7, "same");
  expect(await scene.settle(github)).toEqual([]);
  expect(await list()).toMatchObject([{ state: "waiting", commitSha: shaOf("same") }]);
  expect(await liveCommit(db(), suite.project.branchId)).toBe(shaOf("same"));
  github.pushToFork(7, "same", { repositoryFullName: "acme/echo" });
  await scene.settle(github);
  expect(await list()).toMatchObject([{ state: "waiting", repository: "acme/echo" }]);
  github.pushToFork(7, "next", { repositoryId: null, repositoryFullName: null });
  expect(await scene.settle(github)).toEqual([]);
  expect(await list()).toMatchObject([{ state: "waiting", commitSha: shaOf("next"), repository: null }]);
});

test("BLD-9 BLD-8 GitHub shows who has to act, but not at a commit whose check belongs to the repository", async () => {
  const reports = new ReportsModel();
  const report = async () =>
    reportBranch({
      ctx: job(),
      input: { branchId: await branchId(), reporter: reports, postState: async () => {} },
    });
  github.push("main", "same");
  await scene.settle(github);
  github.pushToFork(7, "same");
  await scene.settle(github);
  await report();
  expect(reports.checks.size).toBe(0);
  github.pushToFork(7, "A");
  await scene.settle(github);
  await report();
  expect(reports.checkOf(shaOf("A"))).toMatchObject({ conclusion: "action_required", title: "Waits for approval" });
  expect([...reports.comments.values()][0]?.body).toContain("[Waits for approval]");
  const { buildId } = await decide("A");
  await succeedBuild(db(), buildId ?? "");
  await report();
  expect(reports.checkOf(shaOf("A"))).toMatchObject({ conclusion: "success", externalId: buildId });
  expect([...reports.deployments.values()]).toMatchObject([{ environment: "preview/pull/7", state: "success" }]);
  github.closeFork(7);
  await scene.settle(github);
  await report();
  expect([...reports.deployments.values()]).toMatchObject([{ state: "inactive" }]);
});

test("BLD-9 viewers may not decide, strangers find nothing, and a branch of the repository is no fork", async () => {
  github.pushToFork(7, "A");
  github.push("feature", "F");
  const queued = await scene.settle(github);
  expect(queued).toHaveLength(1);
  expect(await refusalCode(decide("A", "approve", await suite.organization.join("viewer")))).toBe("forbidden");
  const stranger = (await seedOrganization(db())).owner;
  expect(await refusalCode(decide("A", "approve", stranger))).toBe("not_found");
  expect(await list()).toHaveLength(1);
  const unknown = { ...suite.at(), number: 8, commitSha: shaOf("A"), decision: "approve" as const };
  expect(await refusalCode(decideForkPullRequest({ ctx: suite.as(suite.organization.owner), input: unknown }))).toBe(
    "not_found",
  );
  const own = await db()
    .select()
    .from(branch)
    .where(and(eq(branch.projectId, suite.project.id), eq(branch.name, "feature")));
  expect(own).toHaveLength(1);
});

test("BLD-8 BLD-9 buttons of a check run act as the member with that GitHub account, and for nobody else", async () => {
  github.pushToFork(7, "A");
  await scene.settle(github);
  const member = await suite.organization.join("member");
  const viewer = await suite.organization.join("viewer");
  const stranger = (await seedOrganization(db())).owner;
  const known = async (actor: Actor, githubUserId: number) => {
    await recordGitHubUser({ ctx: testContext(db(), actor), input: { githubUserId } });
    return githubUserId;
  };
  const id = Number(suite.project.repositoryId);
  const [own, reader, other] = [await known(member, id), await known(viewer, id + 1), await known(stranger, id + 2)];
  const press = (action: "cancel" | "approve" | "rerun", externalId: string, more: object = {}) => {
    const of = { action, externalId, commitSha: shaOf("A"), repositoryId: suite.project.repositoryId };
    return actFromCheck({ ctx: job(), input: { ...of, githubUserId: own, ...more } });
  };
  const head = `head:${await branchId()}`;
  for (const githubUserId of [reader, other, 1]) expect(await press("approve", head, { githubUserId })).toBe("refused");
  expect(await press("approve", head, { commitSha: shaOf("B") })).toBe("refused");
  expect(await press("approve", head, { repositoryId: 1 })).toBe("refused");
  expect(await press("approve", "nonsense")).toBe("refused");
  expect(await buildsOf()).toEqual([]);
  expect(await press("approve", head)).toBe("done");
  const [row] = await db()
    .select()
    .from(build)
    .where(eq(build.branchId, await branchId()));
  expect(await press("cancel", row?.id ?? "", { githubUserId: reader })).toBe("refused");
  expect(await press("cancel", row?.id ?? "")).toBe("done");
  expect(await press("cancel", row?.id ?? "")).toBe("refused");
  expect(await press("rerun", row?.id ?? "")).toBe("done");
  expect(await buildsOf()).toEqual([
    [shaOf("A"), "canceled"],
    [shaOf("A"), "queued"],
  ]);
});
