import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cachingOrganization, plainServer, shareCache } from "@towpath/builder/testing";
import { getBuild, listBuilds } from "@towpath/core/delivery/build";
import { deployPackage, deployProject } from "@towpath/core/projects/project";
import { recordInstallation } from "@towpath/core/sources/installation";
import { liveCommit, type SeededOrganization, seedOrganization, testContext } from "@towpath/core/testing";
import { build, deployment, project, route } from "@towpath/db/schema";
import { createRepositoryHost } from "@towpath/github";
import { readBuildLog } from "@towpath/logs";
import { manifestSchema } from "@towpath/mcp/manifest";
import { createPackageIndex, indexesOf } from "@towpath/package-index";
import { createRunnerClient, type RunnerClient } from "@towpath/runner-api";
import { inspectPath, secretHeader } from "@towpath/runtime";
import { createSecretBox } from "@towpath/secrets";
import { eq } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { type LocalInstance, openLocalInstance, writeFiles } from "./testing/local-instance.ts";
import { until } from "./testing/worker-bench.ts";

// Everything real but GitHub: git, sandbox, uv and the package index, runner, queue, and the worker as a process. Pushes,
// previews and sign-in are in tests/e2e, behind the gateway.
let instance: LocalInstance;
let runner: RunnerClient;
let organization: SeededOrganization;
let directory: string;
let branchId = "";
let installationId = 0;
const name = "weather-report";

const needsKey = `
import os

assert os.environ["WEATHER_KEY"] == "sunny-secret", "no key"
`;
/** Starts in an instant: this is about what happens around a server. */
const server = (tool: string, more = "") => `
${needsKey}
${more}
${plainServer.replace('"add"', `"${tool}"`)}
mcp = app
`;

/** Prints environment and arguments of every visible process. */
const tellsAll = `
import glob

for path in glob.glob("/proc/[0-9]*/environ") + glob.glob("/proc/[0-9]*/cmdline"):
    try:
        with open(path) as file:
            print("\\n".join(path + " " + part for part in file.read().split("\\0") if part))
    except OSError:
        pass
`;

const context = () =>
  testContext(
    instance.database.db,
    { kind: "operator", ipAddress: null },
    {
      queue: instance.queue,
      secrets: createSecretBox({ current: instance.rootSecret, previous: [] }),
      repositories: createRepositoryHost({ ...instance.github, find: async () => null }, "http://localhost:3000"),
    },
  );
const git = (...args: string[]) => instance.git(directory, ...args);
async function push(files: Record<string, string>, branch = "main"): Promise<string> {
  await git("checkout", "-q", "-B", branch);
  await writeFiles(directory, files);
  await git("add", ".");
  await git("commit", "-q", "-m", `Change ${Object.keys(files).join(", ")}`);
  await git("push", "-q", "origin", branch);
  return git("rev-parse", "HEAD");
}
const builds = async () =>
  (await listBuilds({ ctx: context(), input: { orgSlug: organization.slug, projectName: name } })).data;
const buildOf = async (sha: string) => (await builds()).find((each) => each.commitSha === sha);
const live = () => liveCommit(instance.database.db, branchId);
async function ended(sha: string, timeoutMs = 120_000) {
  await until(async () => {
    const status = (await buildOf(sha))?.status;
    return status === "succeeded" || status === "failed";
  }, timeoutMs);
  const found = await buildOf(sha);
  return getBuild({ ctx: context(), input: { buildId: found?.id ?? "" } });
}
async function logOf(buildId: string): Promise<string> {
  const lines = await readBuildLog(instance.database.pool, { buildId });
  return lines.map((line) => `${line.phase} ${line.kind} ${line.text}`).join("\n");
}

beforeAll(async () => {
  instance = await openLocalInstance({ withGitHub: true });
  runner = createRunnerClient(
    { kind: "unix", path: join(instance.runDirectory, "runner.sock") },
    { timeoutMs: 10_000 },
  );
  organization = await seedOrganization(instance.database.db, cachingOrganization);
  await shareCache(instance.dataDirectory);
  directory = await mkdtemp(join(tmpdir(), "towpath-push-"));
  await instance.start("runner");
  await instance.start("worker");
  // Three starts, on a busy machine.
}, 180_000);
afterAll(async () => {
  await runner.close();
  await instance.close();
  await rm(directory, { recursive: true, force: true });
});

test("ONB-4 BLD-6 RUN-4 GH-2 GH-3 a repository becomes a live server with its variables, and its log explains every step", {
  timeout: 180_000,
}, async () => {
  await instance.admin.ensureAccount({ login: "ada" });
  ({ installationId } = await instance.admin.ensureInstallation({ login: "ada" }));
  const { repository, pushUrl } = await instance.admin.ensureRepository({ owner: "ada", name: "weather" });
  await instance.git(directory, "init", "-q", "-b", "main");
  await git("remote", "add", "origin", pushUrl);
  const sha = await push({ "server.py": server("forecast", tellsAll), "requirements.txt": "six\n" });
  const head = await instance.github.branch({ installationId, owner: "ada", name: "weather" }, "main");
  expect(head.commit.sha).toBe(sha);
  const account = { installationId, accountLogin: "ada", accountType: "User" };
  await recordInstallation({ ctx: context(), input: { orgSlug: organization.slug, ...account } });
  const created = await deployProject({
    ctx: context(),
    input: {
      orgSlug: organization.slug,
      name,
      installationId,
      repositoryFullName: repository.full_name,
      entrypoint: "server.py:mcp",
      authMode: "towpath-public",
      trigger: "import",
      secrets: [{ keyName: "WEATHER_KEY", secretValue: "sunny-secret" }],
    },
  });
  const built = await ended(sha, 170_000);
  branchId = built.branch.id;
  const text = await logOf(built.id);
  expect(built.diagnosis, text).toBeNull();
  expect(built).toMatchObject({ id: created.build?.id, status: "succeeded", deployment: { isLive: true } });
  expect(manifestSchema.parse(built.manifest).tools.map((tool) => tool.tool_name)).toEqual(["forecast"]);
  expect(text).toContain("requirements.txt");
  expect(text.endsWith(`rollout step Live: http://localhost:8080/${name}/mcp`)).toBe(true);
  // A build sees its own variables and no token or key of the platform's.
  expect(text).toMatch(/environ TOWPATH_\w+=/);
  expect(text).not.toMatch(/forge_i_|PRIVATE KEY|a client secret|a webhook secret|a root secret|postgres:/);
  expect(await runner.ensure(built.deployment?.id ?? "")).toMatchObject({ state: "ready" });
  const link = `http://localhost:3000/${organization.slug}/${name}/build-logs/${built.id}`;
  await until(async () => {
    const runs = await (
      await instance.call(installationId, "GET", `/repos/ada/weather/commits/${sha}/check-runs`)
    ).text();
    return runs.includes('"title":"Live') && runs.includes(`"details_url":"${link}"`);
  });
});

test.runIf(isThorough)(
  "BLD-7 a renamed repository with another default branch: the push is built, and production follows",
  {
    timeout: 180_000,
  },
  async () => {
    const sha = await push({ "server.py": server("from_trunk"), "requirements.txt": "six\n" }, "trunk");
    expect((await ended(sha)).status).toBe("succeeded");
    expect(await instance.database.db.$count(route)).toBe(2);
    const body = { name: "weather-two", default_branch: "trunk" };
    expect((await instance.call(installationId, "PATCH", "/repos/ada/weather", body)).status).toBe(200);
    const production = async () => {
      const [found] = await instance.database.db
        .select({ commitSha: build.commitSha, environment: deployment.environment, branchId: route.branchId })
        .from(route)
        .innerJoin(deployment, eq(deployment.id, route.deploymentId))
        .innerJoin(build, eq(build.id, deployment.buildId))
        .where(eq(route.label, name));
      return found;
    };
    await until(async () => (await production())?.commitSha === sha, 120_000);
    expect(await production()).toMatchObject({ environment: "production" });
    const [stored] = await instance.database.db.select().from(project).where(eq(project.name, name));
    expect(stored).toMatchObject({ repositoryFullName: "ada/weather-two", defaultBranch: "trunk" });
    await git(
      "remote",
      "set-url",
      "origin",
      (await git("remote", "get-url", "origin")).replace("/weather", "/weather-two"),
    );
    branchId = (await production())?.branchId ?? "";
    const next = await push({ "server.py": server("after_the_rename") }, "trunk");
    await until(async () => (await live()) === next, 120_000);
  },
);

test.runIf(isThorough)(
  "BLD-17 BLD-6 a package of the index goes live with nothing but its name, and says where it comes from; nothing bypasses the sign-in that it might have",
  {
    timeout: 180_000,
  },
  async () => {
    const packages = createPackageIndex(indexesOf(process.env));
    const ctx = { ...context(), packages };
    const input = {
      orgSlug: organization.slug,
      name: "published-time",
      packageName: "mcp-server-time",
      version: "2026.10.19",
    };
    const { project: created, build: queued } = await deployPackage({ ctx, input });
    await until(async () => {
      const { status } = await getBuild({ ctx, input: { buildId: queued.id } });
      return status === "succeeded" || status === "failed";
    }, 120_000);
    const built = await getBuild({ ctx, input: { buildId: queued.id } });
    expect(built.diagnosis).toBeNull();
    expect(built).toMatchObject({ status: "succeeded", packageVersion: "2026.10.19", deployment: { isLive: true } });
    const { tools } = manifestSchema.parse(built.manifest);
    expect(tools.map((tool) => tool.tool_name).sort()).toEqual(["convert_time", "get_current_time"]);
    const log = await logOf(queued.id);
    expect(log).toContain("mcp-server-time==2026.10.19");
    expect(log).toContain("the only dependency of a project without code");
    expect(created.githubRepository).toBeNull();
    const { endpoint } = await runner.ensure(built.deployment?.id ?? "");
    const statusAt = async (path: string) => {
      const socketPath = endpoint.kind === "unix" ? endpoint.path : "";
      const asked = request({ socketPath, path, method: "POST", headers: { [secretHeader]: endpoint.secret } });
      asked.end("{}");
      const [response] = (await once(asked, "response")) as [IncomingMessage];
      response.resume();
      return response.statusCode;
    };
    // Its MCP endpoint refuses such a request; only builds have the other one.
    expect([await statusAt("/mcp"), await statusAt(inspectPath)]).toEqual([expect.toBeOneOf([400, 406]), 404]);
  },
);

test.runIf(isThorough)(
  "RUN-8 a live version is rebuilt when its layers are no longer stored, and its server starts again",
  {
    timeout: 180_000,
  },
  async () => {
    const sha = await git("rev-parse", "HEAD");
    expect(await live()).toBe(sha);
    const lost = await buildOf(sha);
    for (const role of ["worker", "runner"] as const) await instance.stop(role);
    // Like a lost disk; also in the layout of earlier versions.
    for (const path of ["artifacts", "cache/layers"])
      await rm(join(instance.dataDirectory, path), { recursive: true, force: true });
    await instance.start("runner");
    await expect(runner.ensure(lost?.deployment?.id ?? "")).rejects.toThrow("no longer stored");
    await instance.start("worker");
    await until(async () => (await buildOf(sha))?.id !== lost?.id, 30_000);
    const again = await ended(sha);
    expect(again).toMatchObject({ status: "succeeded", trigger: "redeploy", deployment: { isLive: true } });
    expect(await logOf(again.id)).toContain("no longer stored");
    await runner.ensure(again.deployment?.id ?? "");
  },
);

test.runIf(isThorough)(
  "OPS-1 a worker exits before the supervisor kills it, also in the middle of a build",
  {
    timeout: 120_000,
  },
  async () => {
    await git("checkout", "-q", "trunk");
    const sha = await push({ "server.py": server("slow_stop", "import time\ntime.sleep(3)") }, "trunk");
    await until(async () => (await buildOf(sha))?.status === "building", 60_000);
    // Not 1, as of a process that can't stop in time.
    expect((await instance.stop("worker")).code).toBe(0);
    expect((await buildOf(sha))?.status).toBe("queued");
    await instance.start("worker");
    expect((await ended(sha)).status).toBe("succeeded");
  },
);

test.runIf(isThorough)(
  "RUN-8 a worker killed with -9 in the middle of a build: the next one on its host takes it over without waiting",
  {
    timeout: 180_000,
  },
  async () => {
    await git("checkout", "-q", "trunk");
    const sha = await push({ "server.py": server("slow_start", "import time\ntime.sleep(6)") }, "trunk");
    await until(async () => {
      const found = await buildOf(sha);
      return found?.status === "building" && (await logOf(found.id)).includes("inspect ");
    }, 60_000);
    await instance.kill("worker");
    // Keep the heartbeat fresh: only the worker's end shows that the build is lost.
    await instance.database.pool.query(
      "UPDATE build SET updated_at = now() + interval '1 h' WHERE status = 'building'",
    );
    await instance.start("worker");
    const built = await ended(sha, 90_000);
    expect(built).toMatchObject({ status: "succeeded", attempt: 2, deployment: { isLive: true } });
    expect(await live()).toBe(sha);
  },
);
