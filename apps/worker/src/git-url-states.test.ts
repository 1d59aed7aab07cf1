import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { getBuild } from "@towpath/core/delivery/build";
import { deployGitUrl, getSource, updateSource } from "@towpath/core/sources/source";
import { type SeededOrganization, seedOrganization, testContext } from "@towpath/core/testing";
import { auditLog, buildReport, gitSource } from "@towpath/db/schema";
import { createAddressPolicy } from "@towpath/egress";
import { createGitRemotes, createStatePoster } from "@towpath/git";
import { commitFiles, type GitServer, makeRepository, serveGitRepositories } from "@towpath/git/testing";
import { and, eq } from "drizzle-orm";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { checkGitSource } from "./jobs/check-source.ts";
import { type Bench, goodBuild, openBench, until } from "./testing/worker-bench.ts";

// A host that serves a repository and accepts commit states like Gitea.
let bench: Bench;
let organization: SeededOrganization;
let directory: string;
let server: GitServer;
let posted: { readonly sha: string; readonly state: string; readonly body: Record<string, string> }[];
let status: number;
/** Commits that the host no longer has: Gitea answers their states with a server error. */
let gone: string[];
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "towpath-git-states-"));
  await makeRepository(join(directory, "acme/echo.git"), { "echo.py": "first = 1\n" });
  posted = [];
  status = 201;
  gone = [];
  server = await serveGitRepositories(directory, {
    answer: async (request) => {
      const [, sha] = /^\/api\/v1\/repos\/acme\/echo\/statuses\/([0-9a-f]{40})$/.exec(request.url ?? "") ?? [];
      if (sha === undefined) return null;
      const body = JSON.parse(await text(request)) as Record<string, string>;
      if (request.headers.authorization !== "token for-states") return { status: 403 };
      if (gone.includes(sha)) return { status: 500, body: "{}" };
      if (status === 201) posted.push({ sha, state: body.state ?? "", body });
      return { status, body: "{}" };
    },
  });
  const policy = createAddressPolicy(["127.0.0.0/8"]);
  bench = await openBench({
    gitRemotes: createGitRemotes({ policy, directory }),
    postState: createStatePoster({ policy }),
  });
  organization = await seedOrganization(bench.database.db);
  bench.build = async ({ openTarball, signal }) => {
    await (await openTarball(signal)).cancel();
    return goodBuild;
  };
});
afterEach(async () => {
  await bench.close();
  await server.close();
  await rm(directory, { recursive: true, force: true });
});

const as = () =>
  testContext(bench.database.db, organization.owner, {
    queue: bench.services.queue,
    secrets: bench.services.secrets,
    gitRemotes: bench.services.gitRemotes,
  });
async function deploy() {
  const name = `states-${organization.slug.slice(-6)}`;
  const input = { orgSlug: organization.slug, name, gitUrl: `${server.url}/acme/echo.git` };
  const made = await deployGitUrl({ ctx: as(), input });
  return { ...made, key: { orgSlug: organization.slug, projectName: made.project.name } };
}
const ended = (buildId: string) =>
  until(
    async () => ["succeeded", "failed"].includes((await getBuild({ ctx: as(), input: { buildId } })).status),
    20_000,
  );
const statesOf = (sha: string) => posted.filter((each) => each.sha === sha).map(({ state }) => state);
const hook = (token: string) => ({ status: { kind: "gitea", token } }) as const;

test.runIf(isThorough)(
  "SRC-2 the host of a Git URL shows the states of builds once each, with a link, from a token of its own",
  async () => {
    const { key, build, project } = await deploy();
    const source = await updateSource({ ctx: as(), input: { ...key, ...hook("for-states") } });
    expect(source).toMatchObject({ status: { kind: "gitea", postedAt: null, problem: null } });
    expect(JSON.stringify(source)).not.toContain("for-states");
    const [row] = await bench.database.db.select().from(gitSource).where(eq(gitSource.projectId, project.id));
    expect([row?.credentialCiphertext, row?.statusCiphertext]).toEqual([
      null,
      expect.not.stringContaining("for-states"),
    ]);
    await bench.work();
    await ended(build.id);
    await until(async () => statesOf(build.commitSha).includes("success"), 10_000);
    expect(statesOf(build.commitSha)).toEqual(["pending", "success"]);
    expect(posted.at(-1)?.body).toMatchObject({
      context: `towpath/${project.name}`,
      target_url: `http://localhost:3000/${organization.slug}/${project.name}/build-logs/${build.id}`,
    });
    const mine = and(eq(auditLog.projectId, project.id), eq(auditLog.action, "source.decrypt"));
    expect(await bench.database.db.$count(auditLog, mine)).toBe(1);
    bench.build = async () => ({
      ok: false,
      diagnosis: {
        code: "entrypoint_not_found",
        phase: "plan",
        title: "No server was found",
        detail: "",
        remedy: "",
        file: null,
        line: null,
        excerpt: null,
        action: { kind: "rebuild" },
      },
      timings: {},
    });
    const sha = await commitFiles(join(directory, "acme/echo.git"), { "echo.py": "second = 2\n" });
    await checkGitSource(bench.services, project.id);
    await until(async () => statesOf(sha).includes("failure"), 20_000);
    expect(statesOf(sha).filter((state) => state !== "pending")).toEqual(["failure"]);
    expect(posted.at(-1)?.body.description).toBe("No server was found");
    const after = await getSource({ ctx: as(), input: key });
    expect(after).toMatchObject({ status: { postedAt: expect.any(String), problem: null } });
    expect(await updateSource({ ctx: as(), input: { ...key, status: null } })).toMatchObject({ status: null });
  },
);

test.runIf(isThorough)(
  "SRC-2 a state that the host refuses is named in the settings, a temporarily refused one is posted later, and the build continues",
  async () => {
    const { key, build, project } = await deploy();
    await updateSource({ ctx: as(), input: { ...key, ...hook("wrong") } });
    await bench.work();
    await ended(build.id);
    const problem = async () => {
      const source = await getSource({ ctx: as(), input: key });
      return source.kind === "git" ? source.status?.problem : undefined;
    };
    // The build's last state, too: posted later, the host's 503 would refuse it.
    const reportedState = async (buildId: string) =>
      (await bench.database.db.select().from(buildReport).where(eq(buildReport.buildId, buildId)))[0]?.check;
    await until(async () => (await reportedState(build.id)) === "success", 10_000);
    expect(await problem()).toMatch(/refuses the token for build states/);
    expect(posted).toEqual([]);
    await updateSource({ ctx: as(), input: { ...key, ...hook("for-states") } });
    status = 503;
    const sha = await commitFiles(join(directory, "acme/echo.git"), { "echo.py": "second = 2\n" });
    await checkGitSource(bench.services, project.id);
    await until(async () => server.requests.some(({ url }) => url.endsWith(`/statuses/${sha}`)), 20_000);
    status = 201;
    await until(async () => statesOf(sha).includes("success"), 30_000);
    expect(await problem()).toBeNull();
  },
);

test.runIf(isThorough)(
  "SRC-2 a commit that the host no longer has doesn't hold up the states of later ones",
  async () => {
    const { key, build, project } = await deploy();
    await updateSource({ ctx: as(), input: { ...key, ...hook("for-states") } });
    gone = [build.commitSha];
    await bench.work();
    await ended(build.id);
    const problem = async () => {
      const source = await getSource({ ctx: as(), input: key });
      return source.kind === "git" ? source.status?.problem : undefined;
    };
    await until(async () => (await problem()) !== null, 10_000);
    expect(await problem()).toMatch(/answered with status 500 to a build's state, which is posted again later/);
    const sha = await commitFiles(join(directory, "acme/echo.git"), { "echo.py": "second = 2\n" });
    await checkGitSource(bench.services, project.id);
    await until(async () => statesOf(sha).includes("success"), 20_000);
    // Where the build is faster than the first post, it is never shown as pending.
    expect(statesOf(sha).filter((state) => state !== "pending")).toEqual(["success"]);
    await until(async () => (await problem()) === null, 10_000);
  },
);
