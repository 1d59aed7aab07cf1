import type { Database } from "@towpath/db";
import { branch, build, route } from "@towpath/db/schema";
import { and, eq } from "drizzle-orm";
import type { Actor } from "../context/index.ts";
import { processWebhook, syncBranch, syncInstallation } from "../sources/webhook/index.ts";
import { liveCommit, succeedBuild } from "./build-steps.ts";
import { GitHubModel } from "./github-model.ts";
import { type MemoryQueue, memoryQueue, type SeededOrganization, type seedProject, testContext } from "./seed.ts";

/** Plays all that GitHub has to deliver, then the jobs that ask it; builds are left. Says which builds were queued. */
async function settle(db: Database, github: GitHubModel, queue = memoryQueue()): Promise<readonly string[]> {
  const ctx = testContext(db, { kind: "job", job: "webhook.process" }, { queue });
  for (const hint of github.deliveries.splice(0)) {
    await processWebhook({ ctx, input: { deliveryId: "not stored", hint } });
  }
  return syncAll(db, github, queue);
}

/** Does the jobs that wait, and those that they enqueue, except builds: answers with those that they queued. */
async function syncAll(db: Database, github: GitHubModel, queue: MemoryQueue): Promise<readonly string[]> {
  const ctx = testContext(db, { kind: "job", job: "branch.sync" }, { queue, repositories: github.host });
  const queuedBuilds = async () => {
    const rows = await db.select({ id: build.id }).from(build).where(eq(build.status, "queued")).orderBy(build.id);
    return rows.map(({ id }) => id);
  };
  const before = new Set(await queuedBuilds());
  for (let next = queue.jobs.shift(); next; next = queue.jobs.shift()) {
    const { payload } = next;
    if ("branch" in payload) await syncBranch({ ctx, input: payload });
    if ("installationId" in payload) await syncInstallation({ ctx, input: payload });
  }
  return (await queuedBuilds()).filter((id) => !before.has(id));
}

/** The same, and every build goes well. */
async function settleAndBuild(db: Database, github: GitHubModel): Promise<void> {
  for (const buildId of await settle(db, github)) await succeedBuild(db, buildId);
}

async function findBranch(db: Database, projectId: string, name: string) {
  const [row] = await db
    .select()
    .from(branch)
    .where(and(eq(branch.projectId, projectId), eq(branch.name, name)));
  return row;
}

/** Commit that is live on a project's branch; null when nothing is. */
async function liveOn(db: Database, projectId: string, name: string): Promise<string | null> {
  const found = await findBranch(db, projectId, name);
  return found ? liveCommit(db, found.id) : null;
}

type Seeded = Awaited<ReturnType<typeof seedProject>>;

/**
 * What tests of webhooks say again and again. `now`: asked at each call, because every test has its own organization.
 */
export function webhookScene(now: () => { readonly db: Database; readonly organization: SeededOrganization }) {
  return {
    as: (actor: Actor = { kind: "job", job: "webhook.process" }, queue = memoryQueue()) =>
      testContext(now().db, actor, { queue }),
    /** A job that reaches this GitHub. */
    on: (github: GitHubModel) =>
      testContext(now().db, { kind: "job", job: "branch.sync" }, { repositories: github.host }),
    gitHubOf: (of: Seeded) => new GitHubModel({ ...of, installationId: now().organization.installationId }),
    settle: (github: GitHubModel) => settle(now().db, github),
    sync: (github: GitHubModel, queue: MemoryQueue) => syncAll(now().db, github, queue),
    settleAndBuild: (github: GitHubModel) => settleAndBuild(now().db, github),
    branchOf: (of: Seeded, name: string) => findBranch(now().db, of.id, name),
    live: (of: Seeded, name: string) => liveOn(now().db, of.id, name),
    routesOf: (of: Seeded) => now().db.select().from(route).where(eq(route.projectId, of.id)),
  };
}
