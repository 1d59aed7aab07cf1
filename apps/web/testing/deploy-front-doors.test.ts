import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { watchPathsProblem } from "@towpath/core/projects/project/schema";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { openSiteWithGitHub } from "./site.ts";
import { answerOf, callServerFunction, signedUpVisitor, type Visitor } from "./visitor.ts";

// Dashboard, quickstart, REST and CLI deploy by one verb, so each refuses the same input with the same text.

const { site, gitHub } = openSiteWithGitHub();
let directory: string;
let visitor: Visitor;
let target: { installationId: number; organization: string; repository: { fullName: string; defaultBranch: string } };

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "towpath-doors-"));
  await writeFile(join(directory, "server.py"), "mcp = None\n");
  await mkdir(join(directory, "servers/two"), { recursive: true });
  await writeFile(join(directory, "servers/two/only.py"), "mcp = None\n");
  const stat = await readFile("/proc/self/stat", "utf8");
  const startTime = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  const running = { pid: process.pid, startTime, url: site.url, serverUrl: "http://localhost:8080/{name}" };
  await writeFile(join(site.dataDirectory, "running.json"), JSON.stringify(running));
  // The operator's organization is made by the first call that needs one.
  expect((await rest("/api/v1/repositories", { name: "unused" })).status).toBe(200);
  target = await connectGitHub();
  // The first account owns the organization that the CLI created.
  visitor = await signedUpVisitor(site.url);
}, 120_000);
afterAll(() => rm(directory, { recursive: true, force: true }));

/** Connects the operator's organization to an account with a repository of the directory's files. */
async function connectGitHub(): Promise<typeof target> {
  await gitHub.admin.ensureAccount({ login: "ada" });
  const { installationId } = await gitHub.admin.ensureInstallation({ login: "ada" });
  const { pushUrl } = await gitHub.admin.ensureRepository({ owner: "ada", name: "front-door" });
  const connect = `INSERT INTO github_installation (installation_id, organization_id, account_login, account_type)
    SELECT $1, id, 'ada', 'User' FROM organization WHERE slug = 'local'`;
  await site.pool.query(connect, [installationId]);
  const who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
  const git = (...args: string[]) => promisify(execFile)("git", [...who, ...args], { cwd: directory });
  await git("init", "--quiet", "--initial-branch", "main");
  await git("add", ".");
  await git("commit", "--quiet", "--message", "First");
  await git("push", "--quiet", pushUrl, "HEAD:main");
  return { installationId, organization: "local", repository: { fullName: "ada/front-door", defaultBranch: "main" } };
}

function rest(path: string, body: unknown): Promise<Response> {
  const headers = { authorization: `Bearer ${site.operatorToken}`, "content-type": "application/json" };
  return fetch(site.url + path, { method: "POST", headers, body: JSON.stringify(body) });
}

type Settings = {
  readonly name: string;
  readonly entrypoint: string;
  readonly requirements?: string;
  readonly rootDirectory?: string;
};

/** The response of each entry point. */
const entryPoints = {
  async dashboard(settings: Settings, repository = target.repository.fullName, installationId = target.installationId) {
    const more = { orgSlug: target.organization, installationId, repositoryFullName: repository };
    const data = { requirements: null, authMode: "towpath-public", ...settings, ...more };
    return (await callServerFunction(visitor, "onboarding.deployRepository", "POST", data)).text;
  },
  async rest(settings: Settings, repository = target.repository.fullName, installationId = target.installationId) {
    const more = { organization: target.organization, installationId, repositoryFullName: repository };
    return (await rest("/api/v1/projects", { ...settings, ...more })).text();
  },
};

function command(...args: string[]) {
  const main = join(import.meta.dirname, "../../cli/src/main.ts");
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const environment = { PATH, NODE_COMPILE_CACHE, HOME: directory };
  return promisify(execFile)(process.execPath, [main, ...args, "--data-dir", site.dataDirectory], { env: environment });
}

const refusal = (run: ReturnType<typeof command>): Promise<string> =>
  run.then(
    () => expect.fail("the CLI was not refused"),
    (error: { stdout: string; stderr: string }) => error.stdout + error.stderr,
  );

const terminal = (name: string, ...options: string[]) =>
  refusal(command("deploy", directory, "--name", name, ...options));

const quickstart = async (serverName: string) => {
  const data = { orgSlug: target.organization, serverName };
  return (await callServerFunction(visitor, "onboarding.startQuickstart", "POST", data)).text;
};

test.runIf(isThorough)(
  "ONB-5 OPS-4 a file that is not in the repository is named by every entry point, and no project is created",
  async () => {
    const { fullName, defaultBranch } = target.repository;
    const text = (path: string, repository = fullName) =>
      new RegExp(`There is no .${path}. in ${repository} at ${defaultBranch} \\([0-9a-f]{7}\\)`);
    const settings = { name: "door-absent", entrypoint: "absent.py:mcp", requirements: "absent.txt" };
    for (const deploy of [entryPoints.dashboard, entryPoints.rest]) {
      const answer = await deploy(settings);
      expect(answer).toMatch(text("absent\\.py"));
      expect(answer).toMatch(text("absent\\.txt"));
    }
    expect(await terminal("front-door", "--entrypoint", "absent.py")).toMatch(text("absent\\.py", "front-door"));
    // With a root directory, they are searched there.
    for (const deploy of [entryPoints.dashboard, entryPoints.rest]) {
      const answer = await deploy({ ...settings, rootDirectory: "./servers/one/" });
      expect(answer).toMatch(text("servers/one/absent\\.py"));
      expect(answer).toMatch(text("servers/one/absent\\.txt"));
    }
    const elsewhere = await terminal("front-door", "--entrypoint", "server.py", "--root-directory", "servers/one");
    expect(elsewhere).toMatch(text("servers/one/server\\.py", "front-door"));
    expect((await site.pool.query("SELECT 1 FROM project")).rowCount).toBe(0);
  },
);

test.runIf(isThorough)(
  "VAL-1 ONB-4 an invalid, reserved or taken name is refused by every entry point with the same text",
  async () => {
    const stranger = await signedUpVisitor(site.url);
    const { text } = await callServerFunction(stranger, "onboarding.createOrganization", "POST", { name: "Elsewhere" });
    expect(text).toContain("elsewhere");
    await site.pool.query(
      `INSERT INTO project (id, organization_id, name, entrypoint)
     SELECT gen_random_uuid(), id, 'taken-name', 'server.py' FROM organization WHERE name = 'Elsewhere'`,
    );
    for (const [name, expected] of [
      ["abc", "Project name must be at least 6 characters long"],
      ["settings", "This project name is reserved"],
      ["taken-name", "This project name is already taken"],
    ] as const) {
      const settings = { name, entrypoint: "server.py" };
      for (const refuse of [entryPoints.dashboard, entryPoints.rest])
        expect(await refuse(settings)).toContain(expected);
      expect(await quickstart(name)).toContain(expected);
      expect(await terminal(name, "--organization", target.organization)).toContain(expected);
    }
  },
);

test.runIf(isThorough)("VAL-2 VAL-3 BLD-15 invalid paths are refused with the same texts", async () => {
  const files = { entrypoint: "../server.py", requirements: "/etc/passwd.txt", rootDirectory: "servers/../.." };
  const settings = { name: "door-faulty", ...files };
  for (const refuse of [entryPoints.dashboard, entryPoints.rest]) {
    const answer = await refuse(settings);
    expect(answer).toContain("Entrypoint cannot reference parent directories");
    expect(answer).toContain("Requirements file must be a relative path from the repo root");
    expect(answer).toContain("Root directory cannot reference parent directories");
  }
  expect(await terminal("door-faulty", "--entrypoint", "server.py", "--root-directory", "/srv")).toContain(
    "Root directory must be a relative path from the repo root",
  );
  expect(await terminal("door-faulty", "--entrypoint", "../server.py")).toContain(
    "Entrypoint cannot reference parent directories",
  );
});

test("GH-1 an installation that is not connected or is suspended, and a missing repository, are refused", async () => {
  const settings = { name: "door-foreign", entrypoint: "server.py" };
  const { fullName } = target.repository;
  for (const refuse of [entryPoints.dashboard, entryPoints.rest]) {
    expect(await refuse(settings, fullName, 424_242)).toContain("GitHub is not connected for this account");
    const absent = await refuse(settings, `${fullName.split("/")[0]}/not-there`);
    expect(absent).toMatch(/not.?found/i);
  }
  await site.pool.query("UPDATE github_installation SET suspended_at = now()");
  for (const refuse of [entryPoints.dashboard, entryPoints.rest]) {
    expect(await refuse(settings)).toContain("has suspended Towpath there. They can resume it in the App's settings.");
  }
  await site.pool.query("UPDATE github_installation SET suspended_at = NULL");
});

test("ONB-5 OPS-4 BLD-15 dashboard and REST accept the same: a project with a build of the newest commit", async () => {
  await entryPoints.dashboard({ name: "door-dashboard", entrypoint: "server.py:mcp" });
  // Only REST sets these at once.
  const more = { keepsData: true, sleepingLists: "off", watchPaths: ["src/"], failOnBreakingChanges: true };
  const made = await entryPoints.rest({ name: "door-rest", entrypoint: "server.py:mcp", ...more });
  expect(JSON.parse(made).project).toMatchObject(more);
  for (const [kind, deploy] of Object.entries(entryPoints))
    await deploy({ name: `root-${kind}`, entrypoint: "only.py", rootDirectory: "servers/two/" });
  const { rows } = await site.pool.query(
    `SELECT project.name, build.trigger, build.commit_sha, build.entrypoint, build.root_directory
     FROM project JOIN build ON build.project_id = project.id ORDER BY project.name`,
  );
  expect(rows).toMatchObject([
    { name: "door-dashboard", trigger: "import", entrypoint: "server.py:mcp" },
    { name: "door-rest", trigger: "cli", commit_sha: rows[0].commit_sha, root_directory: null },
    { name: "root-dashboard", entrypoint: "only.py", root_directory: "servers/two" },
    { name: "root-rest", entrypoint: "only.py", root_directory: "servers/two" },
  ]);
});

test.runIf(isThorough)(
  "OPS-4 BLD-15 the terminal sets and shows watch paths, and refuses what the form refuses, with the same errors",
  async () => {
    const { stdout } = await command("settings", "door-rest", "--watch", "servers/two", "--watch", "!docs");
    expect(stdout).toMatch(/watch paths +servers\/two, !docs\n(.*\n)*Watch paths take effect with the next push\./);
    const wrong = "../elsewhere";
    expect(await refusal(command("settings", "door-rest", "--watch", wrong))).toContain(watchPathsProblem([wrong]));
    const none = await command("settings", "door-rest", "--watch=", "--json");
    expect(JSON.parse(none.stdout).watchPaths).toEqual([]);
  },
);

/** As GitHub sends one with each repository. */
const cloneToken = "clone-token-of-";

test("GH-4 repositories of an installation, for the organization and for a user, in pages and without tokens", async () => {
  const { installationId, organization: orgSlug, repository } = target;
  const { userId } = await account();
  const authorization = `Bearer ${await gitHub.admin.userToken("ada")}`;
  const atGitHub = await fetch(`${gitHub.url}/api/v3/repos/${repository.fullName}`, { headers: { authorization } });
  expect(await atGitHub.text()).toContain(cloneToken);
  gitHub.addRows({ repository: "front-door", count: 100 });
  const calls = [
    ["github.getRepositories", { installationId, userId }],
    ["github.getInstallationRepositories", { orgSlug, installationId }],
  ] as const;
  for (const [id, data] of calls) {
    const pages = await Promise.all([1, 2].map((page) => answerOf(ask(id, "POST", { ...data, page }))));
    const [first, second] = pages as { data: Record<string, unknown>[]; nextPage: number | null }[];
    expect([first?.data.length, first?.nextPage, second?.data.length, second?.nextPage]).toEqual([100, 2, 1, null]);
    const all = [first, second].flatMap((page) => page?.data ?? []);
    expect(new Set(all.map((each) => each.full_name)).size).toBe(101);
    const fields = ["id", "name", "description", "full_name", "private", "default_branch", "updated_at", "html_url"];
    const found = all.find((each) => each.full_name === repository.fullName);
    expect(Object.keys(found ?? {})).toEqual(expect.arrayContaining(fields));
    expect(JSON.stringify(pages)).not.toMatch(new RegExp(`temp_clone_token|${cloneToken}`));
  }
  const other = await signedUpVisitor(site.url);
  for (const [id, data] of calls)
    expect([403, 404]).toContain((await callServerFunction(other, id, "POST", data)).status);
  // Another person's id, and an installation of nobody here.
  for (const data of [
    { installationId, userId: crypto.randomUUID() },
    { installationId: 424_242, userId },
  ])
    expect((await ask("github.getRepositories", "POST", data)).status).toBe(404);
});

test("GH-4 an organization's installations, and the name and address of its App", async () => {
  const { installationId, organization: orgSlug } = target;
  const { rows } = await site.pool.query("SELECT id FROM organization WHERE slug = $1", [orgSlug]);
  const installations = await answerOf(ask("github.getInstallations", "GET", { orgSlug }));
  expect(installations).toMatchObject([{ installationId, organizationId: rows[0].id }]);
  const app = await answerOf(ask("github.getGitHubApp", "GET", { orgSlug }));
  expect(app).toMatchObject({ appSlug: "towpath-test", url: gitHub.url, apps: [{ connection: 0 }] });
  expect(JSON.stringify(app)).not.toMatch(/secret|key/i);
  const other = await signedUpVisitor(site.url);
  for (const id of ["github.getInstallations", "github.getGitHubApp"])
    expect([403, 404]).toContain((await callServerFunction(other, id, "GET", { orgSlug })).status);
});

test("GH-4 a repository with its branch, files that may be the server, and whether a file is there", async () => {
  const { installationId, organization: orgSlug, repository } = target;
  const [owner = "", name = ""] = repository.fullName.split("/");
  const where = { orgSlug, installationId, owner, name };
  const found = await answerOf(ask("github.getBranchAndRepository", "POST", where));
  const commit = { sha: expect.stringMatching(/^[0-9a-f]{40}$/), url: expect.any(String), message: expect.any(String) };
  expect(found).toMatchObject({
    repository: { full_name: repository.fullName, default_branch: repository.defaultBranch },
    branch: {
      name: repository.defaultBranch,
      commit: { ...commit, committer: { name: expect.any(String), date: expect.any(String) } },
    },
    entrypoints: ["server.py", "servers/two/only.py"],
    projects: [],
  });
  expect(JSON.stringify(found)).not.toMatch(new RegExp(`temp_clone_token|${cloneToken}`));
  const none = await answerOf(ask("github.getBranchAndRepository", "POST", { ...where, branch: "not-there" }));
  expect(none).toMatchObject({ branch: null, entrypoints: [] });
  const verify = (path: string, ref = repository.defaultBranch) =>
    answerOf(ask("github.verifyFileExists", "POST", { ...where, path, ref }));
  expect(await verify("server.py")).toEqual({ exists: true });
  expect(await verify("absent.py")).toEqual({ exists: false });
  expect(await verify("server.py", "not-there")).toEqual({ exists: false });
  expect((await ask("github.verifyFileExists", "POST", { ...where, path: "server.py", ref: "" })).status).toBe(422);
});

test("PRJ-18 dispatching builds the newest commit again, a branch's, or says that there is no such branch", async () => {
  const key = { orgSlug: target.organization, projectName: "door-dashboard" };
  const { id } = (await answerOf(ask("build.dispatchBuild", "POST", key))) as { readonly id: string };
  const branch = target.repository.defaultBranch;
  const second = (await answerOf(ask("build.dispatchBuild", "POST", { ...key, branch }))) as { readonly id: string };
  expect(second.id).not.toBe(id);
  const { rows } = await site.pool.query(
    `SELECT DISTINCT build.commit_sha FROM build JOIN project ON project.id = build.project_id
     WHERE project.name = 'door-dashboard'`,
  );
  expect(rows).toHaveLength(1);
  expect((await ask("build.dispatchBuild", "POST", { ...key, branch: "not-there" })).status).toBe(404);
});

const ask = (id: string, method: "GET" | "POST", data: unknown) => callServerFunction(visitor, id, method, data);

async function account(): Promise<{ readonly userId: string }> {
  const { rows } = await site.pool.query(
    `SELECT member.user_id AS "userId" FROM member JOIN organization ON organization.id = member.organization_id
     WHERE organization.slug = $1`,
    [target.organization],
  );
  return rows[0];
}
