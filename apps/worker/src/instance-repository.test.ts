import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { createGunzip } from "node:zlib";
import { getBuild, listBuilds } from "@towpath/core/delivery/build";
import { createRepository, deployRepository, receivePush, uploadCommit } from "@towpath/core/sources/repository";
import { liveCommit, type SeededOrganization, seedOrganization, testContext } from "@towpath/core/testing";
import { branch } from "@towpath/db/schema";
import { openRepositories, type Repositories } from "@towpath/git";
import { commitFiles, git, makeRepository, makeZip, streamOf } from "@towpath/git/testing";
import { readBuildLog } from "@towpath/logs";
import { and, eq } from "drizzle-orm";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { sweepRepositories } from "./retention/repositories.ts";
import { jobContext } from "./services.ts";
import { type Bench, goodBuild, openBench, until } from "./testing/worker-bench.ts";

// Repositories of this instance on the disk, the queue, the jobs; the builder only reads what was fetched.
let bench: Bench;
let organization: SeededOrganization;
let directory: string;
let store: Repositories;
let fetched: string[];
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "towpath-own-repository-"));
  store = openRepositories({ directory: join(directory, "stored") });
  bench = await openBench({ instanceRepositories: store });
  organization = await seedOrganization(bench.database.db);
  fetched = [];
  bench.build = async ({ openTarball, signal }) => {
    fetched.push(await text(Readable.fromWeb((await openTarball(signal)) as never).pipe(createGunzip())));
    return goodBuild;
  };
});
afterEach(async () => {
  await bench.close();
  await rm(directory, { recursive: true, force: true });
});

const as = () =>
  testContext(bench.database.db, organization.owner, { queue: bench.services.queue, instanceRepositories: store });
const work = () => join(directory, "work");
const input = () => ({ orgSlug: organization.slug, name: "weather" });
/** As `serve` does, without HTTP. */
async function push(id: string, ...refs: readonly string[]) {
  await git(work(), "push", "--quiet", "--force", join(directory, "stored", `${id}.git`), ...refs);
  const changed = refs.map((ref) => `refs/heads/${ref.split(":").at(-1)}`);
  await receivePush({ ctx: as(), input: { repositoryId: id, refs: changed } });
}
const builds = async (projectName: string) =>
  (await listBuilds({ ctx: as(), input: { orgSlug: organization.slug, projectName } })).data;
const ended = (id: string) =>
  until(async () => ["succeeded", "failed"].includes((await getBuild({ ctx: as(), input: { buildId: id } })).status));

test("SRC-3 BLD-7 a push to a repository of the instance is built without waiting for a round, and goes live", async () => {
  await makeRepository(work(), { "server.py": "first = 1\n" });
  const { id } = await createRepository({ ctx: as(), input: input() });
  await push(id, "main");
  await bench.work();
  const name = `own-${organization.slug.slice(-6)}`;
  const deploy = { orgSlug: organization.slug, name, repository: "weather", entrypoint: "server.py" } as const;
  const { project, build } = await deployRepository({ ctx: as(), input: deploy });
  await ended(build.id);
  expect(fetched.at(-1)).toContain("first = 1");

  const second = await commitFiles(work(), { "server.py": "second = 2\n" });
  await push(id, "main", "main:fix");
  // Nothing else looks for pushes: no round of the worker runs here.
  await until(async () => (await builds(name)).length === 3);
  const started = (await builds(name)).filter(({ id: each }) => each !== build.id);
  for (const each of started) await ended(each.id);
  expect(started.map(({ commitSha }) => commitSha)).toEqual([second, second]);
  const live = and(eq(branch.projectId, project.id), eq(branch.name, "main"));
  const [main] = await bench.database.db.select().from(branch).where(live);
  expect(await liveCommit(bench.database.db, main?.id ?? "")).toBe(second);

  const archive = streamOf(makeZip([{ name: "server.py", content: "third = 3\n" }]));
  const { commit } = await uploadCommit({ ctx: as(), input: { ...input(), archive, expectedHead: second } });
  await until(async () => (await builds(name)).some(({ commitSha }) => commitSha === commit.sha));
  await until(async () => fetched.some((each) => each.includes("third = 3")));
}, 60_000);

test.runIf(isThorough)(
  "SRC-3 files that a repository of the instance doesn't store are named in the build's log; a lost repository is pushed again",
  async () => {
    await makeRepository(work(), {
      "server.py": "first = 1\n",
      ".gitattributes": "*.bin filter=lfs\n",
      "data.bin": `version https://git-lfs.github.com/spec/v1\noid sha256:${"a".repeat(64)}\nsize 5\n`,
    });
    await git(work(), "update-index", "--add", "--cacheinfo", `160000,${"b".repeat(40)},lib`);
    await git(work(), "commit", "--quiet", "--message", "Submodule");
    const { id } = await createRepository({ ctx: as(), input: input() });
    await push(id, "main");
    const name = `own-${organization.slug.slice(-6)}`;
    const { build } = await deployRepository({
      ctx: as(),
      input: { orgSlug: organization.slug, name, repository: "weather" },
    });
    await bench.work();
    await ended(build.id);
    const log = async (buildId: string) =>
      (await readBuildLog(bench.database.pool, { buildId })).map(({ text: line }) => line).join("\n");
    expect(await log(build.id)).toMatch(/submodule is missing[\s\S]*lib/i);
    expect(await log(build.id)).toMatch(/Git LFS is missing[\s\S]*data\.bin/);
    await rm(join(directory, "stored"), { recursive: true });
    await commitFiles(work(), { "server.py": "second = 2\n" });
    await store.create(id, "main");
    await push(id, "main");
    await until(async () => (await builds(name)).length === 2);
  },
  60_000,
);

test("SRC-3 LOG-6 repositories whose organization is gone are removed a day later, others packed and kept", async () => {
  await makeRepository(work(), { "server.py": "first = 1\n" });
  const { id } = await createRepository({ ctx: as(), input: input() });
  await push(id, "main");
  const [gone, half] = [crypto.randomUUID(), `${crypto.randomUUID()}.git.1-x.new`];
  await store.create(gone, "main");
  await mkdir(join(directory, "stored", half));
  const sweepAt = (now: Date) =>
    sweepRepositories({ ...jobContext(bench.services, "sweep"), clock: { now: () => now } }, store);
  expect(await sweepAt(new Date())).toBe(0);
  expect(await sweepAt(new Date(Date.now() + 25 * 3_600_000))).toBe(2);
  expect(await store.list()).toEqual([id]);
  await store.pack(id, 1);
  expect((await store.open(id).refs()).branches.get("main")).toBe(await git(work(), "rev-parse", "HEAD"));
});
