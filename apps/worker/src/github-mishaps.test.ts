import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { createGunzip } from "node:zlib";
import { getBuild } from "@towpath/core/delivery/build";
import { deployProject } from "@towpath/core/projects/project";
import { numberOf } from "@towpath/core/sources/github-connection/numbers";
import {
  liveCommit,
  type SeededOrganization,
  sampleDiagnosis,
  seedOrganization,
  testContext,
} from "@towpath/core/testing";
import { branch, githubInstallation, project } from "@towpath/db/schema";
import { createGitHubConnections, createRepositoryHost, type GitHubConnections } from "@towpath/github";
import { git, startTestForge, type TestForge } from "@towpath/github-stand-in";
import { eq } from "drizzle-orm";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { type Bench, goodBuild, openBench, until } from "./testing/worker-bench.ts";

// Mishaps at GitHub while a server is live from there: two hosts with equal ids, each with its App, and the worker's
// own client of both.
let forges: readonly [TestForge, TestForge];
let directory: string;
let bench: Bench;
let connections: GitHubConnections;
let organization: SeededOrganization;
let fetched: string[];
/** Awaited before a build reads its source. */
let before: () => Promise<unknown>;
let count = 0;
beforeAll(async () => {
  forges = [await startTestForge(), await startTestForge()];
  directory = await mkdtemp(join(tmpdir(), "towpath-mishaps-"));
}, 60_000);
afterAll(async () => {
  await Promise.all(forges.map((forge) => forge.close()));
  await rm(directory, { recursive: true, force: true });
});
beforeEach(async () => {
  [fetched, before] = [[], async () => {}];
  connections = createGitHubConnections(null, async () =>
    forges.map(({ gitHubConfig }, at) => ({ ...gitHubConfig, id: `c${at + 1}`, number: at + 1, version: 1 })),
  );
  bench = await openBench({ repositories: createRepositoryHost(connections, "http://localhost:3000") });
  organization = await seedOrganization(bench.database.db);
  bench.build = async ({ openTarball, signal }) => {
    await before();
    try {
      fetched.push(await text(Readable.fromWeb((await openTarball(signal)) as never).pipe(createGunzip())));
      return goodBuild;
    } catch (error) {
      // In the builder's form.
      const detail = error instanceof Error ? error.message : String(error);
      const diagnosis = { ...sampleDiagnosis, code: "source_unavailable", phase: "fetch", detail } as const;
      return { ok: false, timings: {}, diagnosis };
    }
  };
});
afterEach(() => bench.close());

const as = () =>
  testContext(bench.database.db, organization.owner, {
    queue: bench.services.queue,
    repositories: bench.services.repositories,
  });

/** A repository of a new account at a host, in which the App is installed for the organization. */
async function repositoryAt(index: 0 | 1, { login = `ada-${++count}`, name = "echo" } = {}) {
  const { admin } = forges[index];
  await admin.ensureAccount({ login });
  const { installationId: id } = await admin.ensureInstallation({ login });
  const { repository, pushUrl } = await admin.ensureRepository({ owner: login, name });
  let remote = pushUrl;
  const work = await mkdtemp(join(directory, "work-"));
  await git(work, "init", "-q", "-b", "main", ".");
  const push = async (message: string, ...flags: string[]) => {
    await git(work, "commit", "-q", "--allow-empty", "-m", message, ...flags);
    await git(work, "push", "-q", "--force", remote, "main");
    return (await git(work, "rev-parse", "HEAD")).trim();
  };
  const pushTo = (renamed: string) => {
    remote = pushUrl.replace(/[^/]+\.git$/, `${renamed}.git`);
  };
  const installationId = numberOf(index + 1, id);
  const account = { accountLogin: login, accountType: "User" };
  await bench.database.db
    .insert(githubInstallation)
    .values({ ...account, installationId, organizationId: organization.id });
  return { login, id, installationId, fullName: repository.full_name, repositoryId: repository.id, push, pushTo };
}
type At = Awaited<ReturnType<typeof repositoryAt>>;

async function deploy(at: At) {
  const first = await at.push("First");
  const { project: made, build } = await deployProject({
    ctx: as(),
    input: {
      orgSlug: organization.slug,
      name: `mishap-${++count}-${organization.slug.slice(-4)}`,
      installationId: at.installationId,
      repositoryFullName: at.fullName,
      entrypoint: "",
      trigger: "import",
    },
  });
  await bench.work();
  await ended(build?.id ?? "");
  const [production] = await bench.database.db.select().from(branch).where(eq(branch.projectId, made.id));
  const live = () => liveCommit(bench.database.db, production?.id ?? "");
  expect(await live()).toBe(first);
  const sync = () =>
    bench.services.queue.enqueue("branch.sync", { projectId: made.id, branch: "main" }, { key: made.id });
  return { id: made.id, first, live, sync };
}
const show = (buildId: string) => getBuild({ ctx: as(), input: { buildId } });
const ended = (buildId: string) =>
  until(async () => ["succeeded", "failed"].includes((await show(buildId)).status), 60_000);
const rowOf = async (id: string) => {
  const [row] = await bench.database.db.select().from(project).where(eq(project.id, id));
  return row;
};
async function newest(projectId: string) {
  const { rows } = await bench.database.pool.query<{ id: string }>(
    "SELECT id FROM build WHERE project_id = $1 ORDER BY created_at DESC, id DESC LIMIT 1",
    [projectId],
  );
  return rows[0]?.id ?? "";
}
const installationsOf = ({ installationId }: At) =>
  bench.database.db.$count(githubInstallation, eq(githubInstallation.installationId, installationId));
/** Resolves once no branch is being checked. */
const untilIdle = () =>
  until(async () => {
    const { rows } = await bench.database.pool.query(
      "SELECT 1 FROM pgboss.job WHERE name = 'branch.sync' AND state < 'completed'",
    );
    return rows.length === 0;
  });
/** Uninstalls the App as the account's owner does. */
async function uninstall(forge: TestForge, { login, id }: At): Promise<void> {
  const person = await signIn(forge, login);
  const answer = await person(`/settings/installations/${id}/uninstall`, {});
  expect(answer.status).toBeLessThan(400);
}
async function signIn(forge: TestForge, login: string) {
  let cookie = "";
  const submit = async (path: string, fields: Record<string, string>) => {
    const response = await fetch(forge.url + path, {
      method: "POST",
      body: new URLSearchParams(fields),
      headers: { origin: forge.url, cookie },
      redirect: "manual",
    });
    cookie = response.headers.getSetCookie()[0]?.split(";", 1)[0] ?? cookie;
    return response;
  };
  await submit("/login", { existing: login });
  return submit;
}

test.runIf(isThorough)(
  "GH-1 BLD-2 ERR-1 when the App is uninstalled during a build, the build reports it, and the live version stays",
  {
    timeout: 120_000,
  },
  async () => {
    const at = await repositoryAt(0);
    const server = await deploy(at);
    await at.push("Second");
    before = () => uninstall(forges[0], at);
    await server.sync();
    await until(
      async () => (await newest(server.id)) !== "" && (await show(await newest(server.id))).status === "failed",
      60_000,
    );
    const { diagnosis } = await show(await newest(server.id));
    expect(diagnosis).toMatchObject({ code: "source_unavailable", phase: "fetch" });
    expect(diagnosis?.detail).toMatch(/^GitHub at \S+ can't find this, or the App has no access to it/);
    expect(await server.live()).toBe(server.first);
    // Then permanently: the installation is deleted with everything that could read it.
    await bench.services.queue.enqueue("installation.sync", { installationId: at.installationId }, { key: "gone" });
    await until(async () => (await installationsOf(at)) === 0);
    await server.sync();
    await untilIdle();
    expect(await server.live()).toBe(server.first);
  },
);

test.runIf(isThorough)(
  "GH-1 BLD-7 when the repository is renamed during a build, the live version stays, and it is read by its number from then on",
  {
    timeout: 120_000,
  },
  async () => {
    const at = await repositoryAt(0);
    const server = await deploy(at);
    const second = await at.push("Second");
    const token = await forges[0].admin.userToken(at.login);
    before = async () => {
      before = async () => {};
      const answer = await fetch(`${forges[0].url}/api/v3/repos/${at.fullName}`, {
        method: "PATCH",
        headers: { authorization: `Bearer ${token}` },
        body: JSON.stringify({ name: "renamed" }),
      });
      expect(answer.status).toBe(200);
      at.pushTo("renamed");
    };
    const earlier = await newest(server.id);
    await server.sync();
    // The repository is renamed in the next build, not in that of the third push.
    await until(async () => (await newest(server.id)) !== earlier);
    await ended(await newest(server.id));
    // GitHub redirects from the old name, but not always: then the next check finds the new name.
    const status = await server.live();
    expect([server.first, second]).toContain(status);
    const third = await at.push("Third");
    await server.sync();
    await until(async () => (await server.live()) === third, 60_000);
    expect((await rowOf(server.id))?.repositoryFullName).toBe(`${at.login}/renamed`);
  },
);

test.runIf(isThorough)(
  "GH-5 BLD-11 SRC-1 another host's repository with the same id is never built in place of one that can't be read any more",
  {
    timeout: 120_000,
  },
  async () => {
    const own = await repositoryAt(0);
    let strangers = await repositoryAt(1);
    while (strangers.id < own.id) strangers = await repositoryAt(1);
    expect([own.id, own.repositoryId]).toEqual([strangers.id, strangers.repositoryId]);
    await strangers.push("Not this server's");
    const server = await deploy(own);
    const stored = await rowOf(server.id);
    await uninstall(forges[0], own);
    await server.sync();
    await bench.services.queue.enqueue("installation.sync", { installationId: own.installationId }, { key: "gone" });
    await until(async () => (await installationsOf(own)) === 0);
    await server.sync();
    await untilIdle();
    expect(await rowOf(server.id)).toEqual(stored);
    expect(await server.live()).toBe(server.first);
    expect(fetched).toHaveLength(1);
  },
);
