import { branch, build, deployment, forkPullRequest, githubInstallation, project } from "@towpath/db/schema";
import { and, eq, sql } from "drizzle-orm";
import { beforeEach, expect, test } from "vitest";
import { isThorough } from "../../../../../tests/thorough.ts";
import type { Actor } from "../../context/index.ts";
import {
  failBuild,
  rebuildLostLayers,
  redeployBuild,
  requeueLostBuilds,
  startBuild,
  takeBuild,
} from "../../delivery/build/index.ts";
import { makeDeploymentLive, promoteDeployment } from "../../delivery/deployment/index.ts";
import { newId } from "../../ids/index.ts";
import type { PackageIndex } from "../../ports/index.ts";
import {
  finishBuild,
  memoryRepositories,
  refusal,
  refusalCode,
  type SeededOrganization,
  sampleDiagnosis,
  seedProject,
  shaOf,
  succeedBuild,
} from "../../testing/index.ts";
import { openGitScene, gitUrl as url } from "../../testing/play-git.ts";
import { decideForkPullRequest } from "../fork-pull-request/index.ts";
import { versionCommit } from "../package/internal.ts";
import { createRepository } from "../repository/index.ts";
import type { BuiltFrom } from "./built-from.ts";
import { changeSource } from "./index.ts";

let organization: SeededOrganization;
let repositoryId: string;
const scene = openGitScene((fresh) => {
  ({ organization } = fresh);
});

const packages: PackageIndex = {
  releases: async (name) => {
    const of = { isPrerelease: false, requiresPython: null, uploadedAt: null };
    return { name, releases: [{ version: "1.1.0", ...of }] };
  },
};
const repositories = memoryRepositories({ repository: { id: 501, fullName: "acme/one" }, head: "g1" });
const as = (actor: Actor = organization.owner) => ({ ...scene.as(actor), repositories, packages });
const job = () => as({ kind: "job", job: "test" });

beforeEach(async () => {
  const made = { orgSlug: organization.slug, name: "stored", defaultBranch: "main" };
  ({ id: repositoryId } = await createRepository({ ctx: as(), input: made }));
  scene.stored.of(repositoryId).heads.set("main", "s1");
});

const gitHub = () => ({ githubRepository: { installationId: organization.installationId, fullName: "acme/one" } });
const kinds = {
  git: () => ({ gitUrl: url }),
  repository: () => ({ repository: "stored" }),
  github: gitHub,
  package: () => ({ package: { name: "shop-mcp" } }),
};
type Kind = keyof typeof kinds;
const all = Object.keys(kinds) as readonly Kind[];

/** What a worker must fetch. */
function expected(kind: Kind): {
  readonly source: BuiltFrom;
  readonly commitSha: string;
  packageVersion: string | null;
} {
  const { installationId } = organization;
  const sources: Readonly<Record<Kind, readonly [BuiltFrom, string]>> = {
    git: [{ kind, url } as BuiltFrom, shaOf("m1")],
    repository: [{ kind, repositoryId, fullName: `${organization.slug}/stored` } as BuiltFrom, shaOf("s1")],
    github: [{ kind, installationId, repositoryId: 501, fullName: "acme/one" } as BuiltFrom, shaOf("g1")],
    package: [{ kind, name: "shop-mcp" } as BuiltFrom, versionCommit("shop-mcp", "1.1.0").sha],
  };
  const [source, commitSha] = sources[kind];
  return { source, commitSha, packageVersion: kind === "package" ? "1.1.0" : null };
}

const take = (buildId: string) => takeBuild({ ctx: job(), input: { buildId } });
const change = (projectId: string, to: Kind) =>
  changeSource({ ctx: as(), input: { projectId, ...kinds[to]() } }).then((changed) => changed.build);
const row = async (buildId: string) => {
  const [found] = await scene.db.select().from(build).where(eq(build.id, buildId));
  if (!found) throw new Error("no build");
  return found;
};
/** Its worker is lost: the sweep of another one finds no sign of life. */
async function loseWorker(buildId: string): Promise<void> {
  await scene.db.update(build).set({ updatedAt: sql`now() - interval '1 hour'` }).where(eq(build.id, buildId));
  const { requeued } = await requeueLostBuilds({ ctx: job(), input: { staleMs: 60_000 } });
  expect(requeued).toEqual([buildId]);
}
async function started(kind: Kind) {
  const { id, name } = await seedProject(scene.db, organization);
  return { id, at: { orgSlug: organization.slug, projectName: name }, build: await change(id, kind) };
}
async function deploymentOf(buildId: string): Promise<string> {
  const [found] = await scene.db.select().from(deployment).where(eq(deployment.buildId, buildId));
  return found?.id ?? "";
}
/** The build that is queued for a live server whose layers are lost. */
async function rebuiltOf(projectId: string) {
  const { queued } = await rebuildLostLayers({
    ctx: job(),
    input: { missing: async (digests) => new Set(digests), isStart: true },
  });
  return (await Promise.all(queued.map(row))).find((each) => each.projectId === projectId);
}

test.runIf(isThorough)(
  "SRC-1 RUN-8 a build whose worker was lost is of what it was queued for, after a change to each other kind of source",
  async () => {
    for (const [at, kind] of all.entries()) {
      // By default one after the other, in a circle.
      for (const next of isThorough ? all.filter((other) => other !== kind) : [all.at(at - 1) ?? kind]) {
        const own = await started(kind);
        expect(await take(own.build.id)).toMatchObject(expected(kind));
        scene.later(60);
        const after = await change(own.id, next);
        await loseWorker(own.build.id);
        const again = await take(own.build.id);
        expect(again).toMatchObject({ ...expected(kind), attempt: 2 });
        expect(again?.repository).toBe(
          { git: url, github: "acme/one", repository: `${organization.slug}/stored`, package: null }[kind],
        );
        // It may still end well, and the next source's build replaces it.
        await finishBuild(scene.db, { buildId: own.build.id, attempt: 2 });
        expect(await take(after.id)).toMatchObject(expected(next));
        expect(await finishBuild(scene.db, { buildId: after.id, attempt: 1 })).toMatchObject({ outcome: "live" });
      }
    }
  },
);

test.runIf(isThorough)(
  "SRC-1 another package, URL and repository of the same kind: the lost build keeps its own",
  async () => {
    const shop = await started("package");
    await take(shop.build.id);
    await changeSource({ ctx: as(), input: { projectId: shop.id, package: { name: "till-mcp" } } });
    await loseWorker(shop.build.id);
    expect(await take(shop.build.id)).toMatchObject(expected("package"));

    const own = await started("github");
    await take(own.build.id);
    const two = memoryRepositories({ repository: { id: 502, fullName: "acme/two" }, head: "g2" });
    const to = { githubRepository: { installationId: organization.installationId, fullName: "acme/two" } };
    await changeSource({ ctx: { ...as(), repositories: two }, input: { projectId: own.id, ...to } });
    await loseWorker(own.build.id);
    expect(await take(own.build.id)).toMatchObject(expected("github"));
    // What the organization can't read any more is read through nobody's installation.
    await scene.db.delete(githubInstallation).where(eq(githubInstallation.installationId, organization.installationId));
    await loseWorker(own.build.id);
    expect(await take(own.build.id)).toMatchObject({ source: { ...expected("github").source, installationId: null } });
  },
);

test.runIf(isThorough)(
  "SRC-1 PRJ-13 PRJ-14 after a change: no rebuild of the earlier source, a rollback to it, and its lost layers are made of it",
  async () => {
    for (const kind of isThorough ? all : all.slice(0, 2)) {
      const next = kind === "git" ? "package" : "git";
      const own = await started(kind);
      await succeedBuild(scene.db, own.build.id);
      scene.later(60);
      const after = await change(own.id, next);
      const refused = await refusal(redeployBuild({ ctx: as(), input: { buildId: own.build.id } }));
      expect([refused.code, refused.message]).toEqual(["conflict", expect.stringContaining("source has changed")]);
      // Served on, as the next source's build fails; then the store loses its layers.
      const lost = await take(after.id);
      await failBuild({
        ctx: job(),
        input: { buildId: after.id, attempt: lost?.attempt ?? 0, diagnosis: sampleDiagnosis },
      });
      expect(await rebuiltOf(own.id)).toMatchObject({ builtFrom: expected(kind).source, status: "queued" });
      const better = await change(own.id, next);
      await succeedBuild(scene.db, better.id);
      await makeDeploymentLive({ ctx: as(), input: { deploymentId: await deploymentOf(own.build.id) } });
      expect(await rebuiltOf(own.id)).toMatchObject({ builtFrom: expected(kind).source, status: "queued" });
      // Back at the earlier source it may be built again.
      await change(own.id, kind);
      const again = await redeployBuild({ ctx: as(), input: { buildId: own.build.id } });
      expect(await take(again.id)).toMatchObject(expected(kind));
      await scene.db.delete(project).where(eq(project.id, own.id));
    }
  },
);

test("SRC-1 BLD-7 BLD-9 builds of previews and of pull requests keep their source; promoting an earlier one's preview takes it along", async () => {
  const own = await started("github");
  await succeedBuild(scene.db, own.build.id);
  const start = { ...own.at, branch: "fix" };
  const preview = (await startBuild({ ctx: as(), input: start })).build;
  await succeedBuild(scene.db, preview.id);
  const running = (await startBuild({ ctx: as(), input: { ...start, commitSha: shaOf("n2") } })).build;
  await take(running.id);
  const forked = { id: newId(), projectId: own.id, name: "pull:7", pullRequestNumber: 7 };
  await scene.db.insert(branch).values(forked);
  const head = { commitSha: shaOf("f1"), headBranch: "x", author: "bob", title: "T", state: "waiting" };
  await scene.db
    .insert(forkPullRequest)
    .values({ ...head, branchId: forked.id, commitMessage: "m", waitingSince: new Date() });
  const decide = { projectId: own.id, number: 7, commitSha: shaOf("f1"), decision: "approve" } as const;
  const approved = (await decideForkPullRequest({ ctx: as(), input: decide })).buildId ?? "";
  await take(approved);
  scene.later(60);
  await change(own.id, "git");
  await loseWorker(running.id);
  await loseWorker(approved);
  const { source } = expected("github");
  for (const [id, commitSha] of [
    [running.id, shaOf("n2")],
    [approved, shaOf("f1")],
  ] as const)
    expect(await take(id)).toMatchObject({ source, commitSha, environment: "preview" });
  // Their branches have ended: nothing of them goes live.
  expect(await finishBuild(scene.db, { buildId: running.id, attempt: 2 })).toEqual({ outcome: "branch-ended" });
  expect(await refusalCode(redeployBuild({ ctx: as(), input: { buildId: approved } }))).toBe("conflict");
  const promoted = await promoteDeployment({ ctx: as(), input: { deploymentId: await deploymentOf(preview.id) } });
  expect(await take(promoted.id)).toMatchObject({ source, repository: "acme/one", layers: expect.anything() });
});

test("SRC-1 a build that is started while somebody changes the source is refused, and so is none of the earlier one queued", async () => {
  const own = await started("package");
  const during: PackageIndex = {
    releases: async (name, signal) => {
      await change(own.id, "git");
      return packages.releases(name, signal);
    },
  };
  const input = { ...own.at, reuse: "never" } as const;
  const error = await refusal(startBuild({ ctx: { ...as(), packages: during }, input }));
  expect([error.code, error.message]).toEqual(["conflict", "The server's source was changed just now. Try again."]);
  const queued = await scene.db
    .select()
    .from(build)
    .where(and(eq(build.projectId, own.id), eq(build.status, "queued")));
  expect(queued.map(({ builtFrom }) => builtFrom)).toEqual([expected("git").source]);
});

test("SRC-1 of builds by an earlier version: the server's source unless that has changed since, else they say so", async () => {
  const own = await started("github");
  await scene.db.update(build).set({ builtFrom: null }).where(eq(build.id, own.build.id));
  expect(await take(own.build.id)).toMatchObject(expected("github"));
  scene.later(60);
  await change(own.id, "package");
  await loseWorker(own.build.id);
  expect(await take(own.build.id)).toMatchObject({ source: null, repository: null });
});
