import type { Database } from "@towpath/db";
import { auditLog, branch, build, gitSource, project } from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import { createSecretBox } from "@towpath/secrets";
import { and, eq } from "drizzle-orm";
import { beforeEach } from "vitest";
import type { Actor, FullContext } from "../context/index.ts";
import {
  checkDueGitSources,
  checkGitSource,
  type DeployGitUrlInput,
  deployGitUrl,
  getSource,
} from "../sources/source/index.ts";
import { syncBranch } from "../sources/webhook/index.ts";
import { liveCommit, succeedBuild } from "./build-steps.ts";
import { GitModel } from "./git-model.ts";
import { memoryQueue, type SeededOrganization, seedOrganization, testContext } from "./seed.ts";
import { StoredModel } from "./stored-model.ts";

/** The repository of `GitScene`. */
export const gitUrl = "https://git.example/acme/echo";

/**
 * A scene with a database of its own, new for each test, for the top of a file. `onReset` gets what the test works with.
 */
export function openGitScene(onReset: (fresh: Awaited<ReturnType<GitScene["reset"]>>) => void): GitScene {
  const database = openTestDatabase();
  const scene = new GitScene(() => database.db);
  beforeEach(async () => onReset(await scene.reset()));
  return scene;
}

/** A repository behind a Git URL, two organizations, a clock and a queue; what tests of sources say again and again. */
class GitScene {
  readonly secrets = createSecretBox({ current: "a root secret of 32 characters..", previous: [] });
  readonly #db: () => Database;
  #servers = 0;
  #queue = memoryQueue();
  now = new Date();
  git = new GitModel(gitUrl);
  stored = new StoredModel();

  constructor(db: () => Database) {
    this.#db = db;
  }

  get db(): Database {
    return this.#db();
  }

  /** Jobs that wait. */
  get queue() {
    return this.#queue;
  }

  /** The state of a new test. */
  async reset(): Promise<{ git: GitModel; organization: SeededOrganization; others: SeededOrganization }> {
    this.git = new GitModel(gitUrl);
    this.git.heads.set("main", "m1");
    this.git.files.set("echo.py", "mcp = 1");
    this.stored = new StoredModel();
    this.now = new Date();
    this.#queue = memoryQueue();
    await this.#db().delete(gitSource);
    return {
      git: this.git,
      organization: await seedOrganization(this.#db()),
      others: await seedOrganization(this.#db()),
    };
  }

  readonly as = (actor: Actor): FullContext =>
    testContext(this.#db(), actor, {
      secrets: this.secrets,
      queue: this.#queue,
      gitRemotes: this.git.remotes,
      clock: { now: () => this.now },
      instanceRepositories: this.stored.repositories,
    });

  readonly asJob = (name = "git-sources") => this.as({ kind: "job", job: name });

  later(seconds: number): void {
    this.now = new Date(this.now.getTime() + seconds * 1000);
  }

  deploy(organization: SeededOrganization, more: Partial<DeployGitUrlInput> = {}, actor: Actor = organization.owner) {
    const name = `git-echo-${++this.#servers}-${organization.slug.slice(-6)}`;
    return deployGitUrl({ ctx: this.as(actor), input: { orgSlug: organization.slug, name, gitUrl, ...more } });
  }

  /** Does the jobs that wait, except builds; says which commits of these projects were queued to be built. */
  async settle(): Promise<readonly string[]> {
    const before = await this.#queued();
    for (let next = this.#queue.jobs.shift(); next; next = this.#queue.jobs.shift()) {
      const ctx = this.asJob(next.name);
      if (next.name === "source.check") await checkGitSource({ ctx, input: next.payload as { projectId: string } });
      if (next.name !== "branch.sync") continue;
      await syncBranch({ ctx, input: next.payload as { projectId: string; branch: string } });
    }
    const added = (await this.#queued()).filter(({ id }) => !before.some((each) => each.id === id));
    return added.map(({ commit }) => commit ?? "");
  }

  /** Asks as the worker does when the source is due, and does what follows. */
  async check(projectId: string): Promise<readonly string[]> {
    await this.#db().update(gitSource).set({ nextCheckAt: this.now }).where(eq(gitSource.projectId, projectId));
    await checkDueGitSources({ ctx: this.asJob(), input: { limit: 10 } });
    return this.settle();
  }

  async buildAll(): Promise<void> {
    for (const { id } of await this.#queued()) await succeedBuild(this.#db(), id);
  }

  #queued() {
    return this.#db()
      .select({ id: build.id, commit: build.commitMessage })
      .from(build)
      .innerJoin(gitSource, eq(gitSource.projectId, build.projectId))
      .where(eq(build.status, "queued"))
      .orderBy(build.id);
  }

  async branches(projectId: string) {
    const rows = await this.#db().select().from(branch).where(eq(branch.projectId, projectId));
    return new Map(rows.map((row) => [row.name, row]));
  }

  async live(projectId: string, name = "main"): Promise<string | null> {
    const row = (await this.branches(projectId)).get(name);
    return row ? liveCommit(this.#db(), row.id) : null;
  }

  async row(projectId: string) {
    const [row] = await this.#db().select().from(gitSource).where(eq(gitSource.projectId, projectId));
    if (!row) throw new Error("there is no Git source");
    return row;
  }

  /** Seconds until the source is asked again. */
  async pause(projectId: string): Promise<number> {
    return ((await this.row(projectId)).nextCheckAt.getTime() - this.now.getTime()) / 1000;
  }

  async view(actor: Actor, projectId: string) {
    const found = await getSource({ ctx: this.as(actor), input: { projectId } });
    if (found.kind !== "git") throw new Error("not a Git source");
    return found;
  }

  auditsOf(projectId: string, action: string) {
    return this.#db()
      .select()
      .from(auditLog)
      .where(and(eq(auditLog.projectId, projectId), eq(auditLog.action, action)));
  }

  projectsOf({ id }: SeededOrganization): Promise<number> {
    return this.#db().$count(project, eq(project.organizationId, id));
  }
}
