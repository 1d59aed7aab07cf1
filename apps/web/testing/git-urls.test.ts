import { createHmac } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createApiKey } from "@towpath/core/tenancy/api-key";
import { testContext } from "@towpath/core/testing";
import { type GitServer, makeRepository, serveGitRepositories } from "@towpath/git/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { sharedSite } from "./site.ts";
import { runTerminal } from "./terminal.ts";
import { type Member, newVisitor, seededMember } from "./visitor.ts";

const site = sharedSite();
let directory: string;
let git: GitServer;
let owner: Member;
let others: Member;
let key: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "towpath-git-urls-"));
  await makeRepository(join(directory, "acme/weather-server"), { "server.py": "mcp = None\n" });
  await makeRepository(join(directory, "acme/other-server"), { "server.py": "mcp = None\n" });
  git = await serveGitRepositories(directory);
  [owner, others] = [await seededMember(site.url, site.db), await seededMember(site.url, site.db)];
  key = await keyOf(owner);
});
afterAll(async () => {
  await git?.close();
  await rm(directory, { recursive: true, force: true });
});

async function keyOf({ userId, organization }: Member): Promise<string> {
  const input = { orgSlug: organization.slug, kind: "organization", name: "CI", scope: "manage" } as const;
  return (await createApiKey({ ctx: testContext(site.db, { kind: "user", userId, ipAddress: null }), input })).key;
}

async function call(by: string, method: string, path: string, body?: unknown) {
  const response = await newVisitor(site.url).request(`/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${by}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, answer: await response.json() };
}

test("SRC-2 OPS-4 a repository is looked at by REST without deploying it, with what New server shows", async () => {
  const before = (await call(key, "GET", "/projects")).answer.data.length;
  const text = `git clone ${git.url}/acme/weather-server`;
  const { status, answer } = await call(key, "POST", "/sources/look", { text });
  expect([status, answer]).toMatchObject([
    200,
    {
      url: `${git.url}/acme/weather-server`,
      name: "acme/weather-server",
      branch: "main",
      branches: ["main"],
      commit: { message: "First" },
      entrypoints: ["server.py"],
      serverName: "weather-server",
    },
  ]);
  expect(await call(key, "POST", "/sources/look", { text: `${git.url}/acme/none` })).toMatchObject({
    status: 422,
    answer: { error: { fields: { text: expect.stringContaining("no repository at this URL") } } },
  });
  expect((await call(key, "GET", "/projects")).answer.data).toHaveLength(before);
});

test.runIf(isThorough)(
  "SRC-2 OPS-4 a Git URL is deployed by REST, again only when something is new, and by its owner's organization alone",
  async () => {
    const body = { name: "gauge-one", gitUrl: `${git.url}/acme/weather-server` };
    const first = await call(key, "POST", "/git-urls", body);
    expect(first).toMatchObject({
      status: 200,
      answer: { created: true, project: { name: "gauge-one", source: { kind: "git", name: "acme/weather-server" } } },
    });
    const again = await call(key, "POST", "/git-urls", { ...body, gitUrl: `${body.gitUrl}.git/`.replace(".git/", "") });
    expect(again).toMatchObject({ status: 200, answer: { created: false, build: { id: first.answer.build.id } } });
    expect(await call(key, "POST", "/git-urls", { ...body, gitUrl: `${git.url}/acme/other-server` })).toMatchObject({
      status: 409,
      answer: { error: { message: expect.stringContaining("Choose another name, or change its source") } },
    });
    const stranger = await keyOf(others);
    expect((await call(stranger, "POST", "/git-urls", body)).status).toBe(422);
    for (const [method, path, body] of [
      ["GET", "", undefined],
      ["PATCH", "", { previews: true }],
      ["PUT", "", { gitUrl: `${git.url}/acme/other-server` }],
      ["POST", "/check", undefined],
      ["POST", "/webhook-secret", undefined],
      ["DELETE", "/webhook-secret", undefined],
    ] as const) {
      const asked = [method, `/projects/gauge-one/source${path}`, body] as const;
      expect([method, path, (await call("made up", ...asked)).status]).toEqual([method, path, 401]);
      expect([method, path, (await call(stranger, ...asked)).status]).toEqual([method, path, 404]);
    }
  },
);

test("SRC-2 problems with a Git URL are reported at its field, and a private address is refused", async () => {
  const body = { name: "nothing-there", gitUrl: `${git.url}/acme/nothing` };
  expect(await call(key, "POST", "/git-urls", body)).toMatchObject({
    status: 422,
    answer: { error: { code: "invalid_input", fields: { gitUrl: expect.stringMatching(/repository/) } } },
  });
  for (const gitUrl of ["https://169.254.169.254/latest", "http://10.0.0.1/acme/echo"])
    expect(await call(key, "POST", "/git-urls", { ...body, gitUrl })).toMatchObject({
      status: 422,
      answer: { error: { fields: { gitUrl: expect.stringMatching(/not a host on the public internet/) } } },
    });
});

test("SRC-1 SRC-2 OPS-4 a source is read, checked and changed; its webhook needs the secret", async () => {
  await call(key, "POST", "/git-urls", { name: "gauge-two", gitUrl: `${git.url}/acme/weather-server` });
  const path = "/projects/gauge-two/source";
  expect((await call(key, "GET", path)).answer.source).toMatchObject({ kind: "git", branch: null, problem: null });
  expect((await call(key, "PATCH", path, { previews: true })).answer).toMatchObject({ previews: true });
  expect((await call(key, "POST", `${path}/check`)).answer).toMatchObject({ kind: "git" });
  const { secret, source } = (await call(key, "POST", `${path}/webhook-secret`)).answer;
  const body = JSON.stringify({ ref: "refs/heads/main" });
  const deliver = (by: string) =>
    fetch(`${site.url}${source.webhook.path}`, {
      method: "POST",
      headers: { "x-hub-signature-256": `sha256=${createHmac("sha256", by).update(body).digest("hex")}` },
      body,
    });
  expect([(await deliver(secret)).status, (await deliver("wrong")).status]).toEqual([202, 401]);
  expect((await call(key, "DELETE", `${path}/webhook-secret`)).answer.webhook.hasSecret).toBe(false);
  expect((await deliver(secret)).status).toBe(401);
  const changed = await call(key, "PUT", path, { gitUrl: `${git.url}/acme/other-server` });
  expect(changed).toMatchObject({ status: 200, answer: { source: { name: "acme/other-server" } } });
  expect((await call(key, "GET", "/projects/gauge-two")).answer.source.name).toBe("acme/other-server");
});

test.runIf(isThorough)(
  "SRC-2 OPS-4 the terminal names the branch that goes live, and sets and removes the token for build states",
  async () => {
    await call(key, "POST", "/git-urls", { name: "gauge-three", gitUrl: `${git.url}/acme/weather-server` });
    const env = { TOWPATH_URL: site.url, TOWPATH_API_KEY: key };
    const towpath = (input: string, ...args: string[]) => runTerminal({ env, input }, ...args);
    const shown = await towpath("", "settings", "gauge-three");
    expect([shown.status, shown.stdout]).toEqual([
      0,
      expect.stringMatching(/branch +the repository's default, now main\n/),
    ]);
    const refused = await towpath("", "settings", "gauge-three", "--public", "--branch", "nope");
    expect([refused.status, refused.stderr]).toEqual([1, "\n✗ The repository has no branch nope. It has main.\n"]);
    expect((await call(key, "GET", "/projects/gauge-three")).answer.authMode).toBe("towpath-cloud");
    const named = await towpath("", "settings", "gauge-three", "--branch", "main");
    expect(named.stdout).toContain("✓ branch: the repository's default, now main → main\n");
    expect(JSON.parse((await towpath("", "settings", "gauge-three", "--json")).stdout)).toMatchObject({
      branch: "main",
    });
    expect((await towpath("", "settings", "gauge-three", "--branch=")).stdout).toContain("✓ branch: main → ");

    const states = (input: string, ...args: string[]) => towpath(input, "build-states", "gauge-three", ...args);
    expect((await states("")).stdout).toContain("Build states are not posted.");
    const set = await states("t0ken\n", "set", "gitea");
    expect([set.status, set.stdout]).toEqual([0, "Build states are posted to Gitea or Forgejo: none yet.\n"]);
    expect(JSON.parse((await states("", "--json")).stdout)).toEqual({ kind: "gitea", postedAt: null, problem: null });
    for (const [args, text] of [
      [["set"], "Name the kind of Git host: gitlab, gitea, bitbucket or github."],
      [["set", "gitlub"], "Did you mean gitlab?"],
      [["set", "gitlab"], "Stdin has no token"],
      [["sett", "gitlab"], "Did you mean set?"],
      [["remove", "gitlab"], "gitlab is too much for remove."],
    ] as const) {
      const { status, stderr } = await states("", ...args);
      expect([args, status, stderr]).toEqual([args, 2, expect.stringContaining(text)]);
    }
    expect(JSON.parse((await states("", "remove", "--json")).stdout)).toBeNull();
    expect((await call(key, "GET", "/projects/gauge-three/source")).answer.source.status).toBeNull();
  },
  120_000,
);
