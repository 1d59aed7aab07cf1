import { createHmac } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { createGunzip } from "node:zlib";
import type { BuildRequest } from "@towpath/builder";
import { getBuild, listBuilds, requeueLostBuilds } from "@towpath/core/delivery/build";
import {
  changeSource,
  checkDueGitSources,
  deployGitUrl,
  getSource,
  makeSourceWebhookSecret,
  receiveSourceWebhook,
} from "@towpath/core/sources/source";
import {
  liveCommit,
  type SeededOrganization,
  sampleDiagnosis,
  seedOrganization,
  testContext,
} from "@towpath/core/testing";
import { branch, build as builtRows, gitSource } from "@towpath/db/schema";
import { createAddressPolicy } from "@towpath/egress";
import { createGitRemotes } from "@towpath/git";
import { commitFiles, type GitServer, git, makeRepository, serveGitRepositories } from "@towpath/git/testing";
import { readBuildLog } from "@towpath/logs";
import { eq, sql } from "drizzle-orm";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { jobContext } from "./services.ts";
import { type Bench, goodBuild, openBench, until } from "./testing/worker-bench.ts";

// Git URLs at the network: `git http-backend` on loopback, the queue, the jobs; the builder only reads what was fetched.
let bench: Bench;
let organization: SeededOrganization;
let directory: string;
let server: GitServer;
let fetched: string[];
let count = 0;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "towpath-git-url-"));
  await makeRepository(join(directory, "acme/echo.git"), { "echo.py": "first = 1\n" });
  server = await serveGitRepositories(directory);
  const policy = createAddressPolicy(["127.0.0.0/8"]);
  bench = await openBench({ gitRemotes: createGitRemotes({ policy, directory }) });
  organization = await seedOrganization(bench.database.db);
  fetched = [];
  bench.build = async (request) => {
    fetched.push(await readTarball(request));
    return goodBuild;
  };
});
afterEach(async () => {
  await bench.close();
  await server.close();
  await rm(directory, { recursive: true, force: true });
});

/** Names and contents concatenated: enough to recognize the commit. */
async function readTarball({ openTarball, signal }: BuildRequest): Promise<string> {
  const stream = await openTarball(signal);
  return text(Readable.fromWeb(stream as never).pipe(createGunzip()));
}

const as = () =>
  testContext(bench.database.db, organization.owner, {
    queue: bench.services.queue,
    secrets: bench.services.secrets,
    gitRemotes: bench.services.gitRemotes,
  });
const repository = () => join(directory, "acme/echo.git");
const push = (files: Record<string, string>) => commitFiles(repository(), files);
async function deploy(more: Partial<Parameters<typeof deployGitUrl>[0]["input"]> = {}) {
  const name = `by-url-${++count}-${organization.slug.slice(-6)}`;
  const input = { orgSlug: organization.slug, name, gitUrl: `${server.url}/acme/echo.git`, ...more };
  return deployGitUrl({ ctx: as(), input });
}
const builds = async (projectName: string) =>
  (await listBuilds({ ctx: as(), input: { orgSlug: organization.slug, projectName } })).data;
const ended = (id: string) =>
  until(
    async () => ["succeeded", "failed"].includes((await getBuild({ ctx: as(), input: { buildId: id } })).status),
    20_000,
  );
async function live(projectId: string): Promise<string | null> {
  const rows = await bench.database.db.select().from(branch).where(eq(branch.projectId, projectId));
  const production = rows.find(({ isDefault }) => isDefault);
  return production ? liveCommit(bench.database.db, production.id) : null;
}
/** As the worker's rounds. */
async function ask(): Promise<void> {
  await bench.database.db.update(gitSource).set({ nextCheckAt: sql`now() - interval '1 minute'` });
  await checkDueGitSources({ ctx: jobContext(bench.services, "git-sources"), input: { limit: 10 } });
}

test("SRC-2 BLD-7 a repository behind a Git URL is built and live, and so is the next push, found by asking", async () => {
  const { project, build } = await deploy();
  expect(build.commitMessage).toBe("First");
  await bench.work();
  await ended(build.id);
  expect([await live(project.id), fetched[0]]).toEqual([build.commitSha, expect.stringContaining("first = 1")]);
  const sha = await push({ "echo.py": "second = 2\n" });
  await ask();
  await until(async () => (await live(project.id)) === sha, 20_000);
  expect(fetched[1]).toContain("second = 2");
  expect(bench.checks).toEqual([]);
});

test.runIf(isThorough)("SRC-2 by its webhook a push starts its build at once", async () => {
  const { project, build } = await deploy();
  await bench.work();
  await ended(build.id);
  const input = { orgSlug: organization.slug, projectName: project.name };
  const { secret } = await makeSourceWebhookSecret({ ctx: as(), input });
  const sha = await push({ "echo.py": "second = 2\n" });
  const rawBody = Buffer.from("{}");
  const signature = createHmac("sha256", secret).update(rawBody).digest("hex");
  const headers = new Headers({ "x-hub-signature-256": `sha256=${signature}` });
  const ctx = testContext(
    bench.database.db,
    { kind: "job", job: "webhook.receive" },
    { ...as(), actor: { kind: "job", job: "webhook.receive" } },
  );
  const at = Date.now();
  await receiveSourceWebhook({ ctx, input: { projectId: project.id, headers, rawBody } });
  await until(async () => (await live(project.id)) === sha, 20_000);
  const found = (await builds(project.name)).find(({ commitSha }) => commitSha === sha);
  const tookMs = Date.parse(found?.startedAt ?? "") - at;
  // Far below the pause between two checks; about half a second on an idle machine.
  expect(tookMs).toBeLessThan(5_000);
});

test.runIf(isThorough)(
  "SRC-2 GH-2 a token reads a private repository and is in no build; when it is refused, the live version stays and the source reports it",
  async () => {
    server.set({ token: "s3cret-token" });
    const { project, build } = await deploy({ credential: { kind: "token", token: "s3cret-token" } });
    let request: BuildRequest | undefined;
    bench.build = async (given) => {
      request = given;
      fetched.push(await readTarball(given));
      return goodBuild;
    };
    await bench.work();
    await ended(build.id);
    expect(fetched).toHaveLength(1);
    expect(JSON.stringify(request)).not.toContain("s3cret-token");
    server.set({ token: "another" });
    await push({ "echo.py": "second = 2\n" });
    await ask();
    const source = await getSource({ ctx: as(), input: { orgSlug: organization.slug, projectName: project.name } });
    expect(source).toMatchObject({
      problem: { code: "conflict", message: expect.stringContaining("refuses the token") },
    });
    expect(await live(project.id)).toBe(build.commitSha);
  },
);

test.runIf(isThorough)(
  "SRC-2 submodules that can't be fetched are named in the build's log and its warnings",
  async () => {
    await push({ ".gitmodules": '[submodule "lib"]\n\tpath = lib\n\turl = ../missing.git\n' });
    await git(repository(), "update-index", "--add", "--cacheinfo", `160000,${"1".repeat(40)},lib`);
    await git(repository(), "commit", "-q", "-m", "Submodule");
    const { build } = await deploy();
    await bench.work();
    await ended(build.id);
    const { warnings } = await getBuild({ ctx: as(), input: { buildId: build.id } });
    expect(warnings).toMatchObject([{ code: "source_incomplete", title: expect.stringContaining("lib") }]);
    const log = await readBuildLog(bench.database.pool, { buildId: build.id });
    expect(log.some(({ phase, kind, text }) => phase === "fetch" && kind === "warning" && text.includes("lib"))).toBe(
      true,
    );
  },
);

test.runIf(isThorough)(
  "SRC-2 BLD-2 ERR-1 a commit lost by a rewritten history before its build ran fails the build, and the live version stays",
  async () => {
    const { project, build } = await deploy();
    await bench.work();
    await ended(build.id);
    bench.build = async ({ openTarball, signal }) => {
      await git(repository(), "commit", "--quiet", "--amend", "--allow-empty", "--message", "Rewritten");
      await git(repository(), "reflog", "expire", "--expire=now", "--all");
      await git(repository(), "gc", "--quiet", "--prune=now");
      const { message } = await openTarball(signal).then(
        () => new Error("it was fetched"),
        (error: Error) => error,
      );
      // In the builder's form.
      return { ok: false, timings: {}, diagnosis: { ...sampleDiagnosis, detail: message } };
    };
    const lost = await push({ "echo.py": "second = 2\n" });
    await ask();
    await until(async () => (await builds(project.name)).some(({ commitSha }) => commitSha === lost));
    const of = (await builds(project.name)).find(({ commitSha }) => commitSha === lost);
    await ended(of?.id ?? "");
    const { diagnosis } = await getBuild({ ctx: as(), input: { buildId: of?.id ?? "" } });
    expect(diagnosis?.detail).toMatch(new RegExp(`no longer has commit ${lost.slice(0, 7)}.*rewritten`));
    expect(await live(project.id)).toBe(build.commitSha);
  },
);

test.runIf(isThorough)(
  "SRC-1 RUN-8 a build whose worker is lost fetches its own source, though the server has another one now",
  async () => {
    await makeRepository(join(directory, "acme/other.git"), { "echo.py": "elsewhere = 1\n" });
    const { project, build } = await deploy();
    let isLost = true;
    const held: (() => void)[] = [];
    const fetchAndBuild = bench.build;
    bench.build = async (request) => {
      if (!isLost) return fetchAndBuild(request);
      isLost = false;
      await new Promise<void>((resolve) => held.push(resolve));
      throw new Error("this worker was lost");
    };
    await bench.work();
    await until(() => held.length === 1);
    const { build: next } = await changeSource({
      ctx: as(),
      input: { projectId: project.id, gitUrl: `${server.url}/acme/other.git` },
    });
    // Like the sweep after a missing heartbeat.
    await bench.database.db.update(builtRows).set({ status: "queued" }).where(eq(builtRows.id, build.id));
    await requeueLostBuilds({ ctx: jobContext(bench.services, "sweep"), input: { staleMs: 60_000 } });
    await Promise.all([ended(build.id), ended(next.id)]);
    for (const resolve of held) resolve();
    expect(["elsewhere = 1", "first = 1"].map((line) => fetched.filter((each) => each.includes(line)).length)).toEqual([
      1, 1,
    ]);
    expect(await live(project.id)).toBe(next.commitSha);
  },
);
