import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "@towpath/db";
import { git, gitHubSettings, startGitHub, writeForgeData } from "@towpath/github-stand-in";
import { freePort } from "@towpath/role/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { modernCall } from "../instance/modern-call.ts";
import { operatorPost } from "../instance/operator.ts";
import { plainRequirements, plainServer } from "../instance/plain-server.ts";
import { databaseUrlOf } from "../instance/processes.ts";
import { instancePorts, type Ports, startTowpath, type TowpathInstance } from "../instance/towpath-process.ts";

// A server built from the local forge of an earlier release, before and after the upgrade. The forge behaved like
// GitHub, so the stand-in for GitHub makes the server here, and its repository is copied to the forge's directory.

let directory: string;
let code: string;
let dataDirectory: string;
let ports: Ports;
const name = "from-the-forge";

beforeAll(async () => {
  // Short enough for the sockets below it.
  directory = await mkdtemp(join(tmpdir(), "tp-forge-"));
  dataDirectory = join(directory, "data");
  code = await mkdtemp(join(directory, "code-"));
  ports = await instancePorts();
  await git(code, "init", "--quiet", "--initial-branch", "main");
  await writeFile(join(code, "requirements.txt"), plainRequirements);
  await commit("one");
}, 60_000);
afterAll(() => rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }));

async function commit(word: string): Promise<void> {
  await writeFile(join(code, "server.py"), plainServer({ word: `"${word}"` }));
  await git(code, "add", ".");
  await git(code, "commit", "--quiet", "--message", `Say ${word}`);
}

async function ask(): Promise<string> {
  const answer = await fetch(`http://localhost:${ports.gateway}/${name}/mcp`, modernCall("word", {}, "Caller"));
  return `${answer.status} ${(await answer.text()).match(/"result": ?"(\w+)"/)?.[1]}`;
}

/** Numbers as the forge gave them. */
type Numbers = { readonly accountId: number; readonly installationId: number; readonly repositoryId: number };

async function deployFromHost(): Promise<Numbers> {
  const settings = gitHubSettings(`http://localhost:${await freePort()}`);
  const host = await startGitHub({ settings, webUrl: `http://localhost:${ports.web}` });
  const instance = await startTowpath(dataDirectory, ports, settings);
  const { pool, close } = openDatabase(databaseUrlOf(dataDirectory), { maxConnections: 1 });
  try {
    const { id: accountId } = await host.admin.ensureAccount({ login: "ada" });
    const { installationId } = await host.admin.ensureInstallation({ login: "ada" });
    const { pushUrl, repository } = await host.admin.ensureRepository({ owner: "ada", name: "Words" });
    await git(code, "push", "--quiet", pushUrl, "HEAD:main");
    await pool.query("INSERT INTO organization (id, slug, name) VALUES (gen_random_uuid(), 'canals', 'Canals')");
    await pool.query(
      `INSERT INTO github_installation (installation_id, organization_id, account_login, account_type)
       SELECT $1, id, 'ada', 'User' FROM organization WHERE slug = 'canals'`,
      [installationId],
    );
    const project = { organization: "canals", name, installationId, repositoryFullName: repository.full_name };
    await operatorPost(instance, "projects", { ...project, authMode: "towpath-public" });
    await expect.poll(() => ask().catch(() => "down"), { timeout: 120_000 }).toBe("200 one");
    return { accountId, installationId, repositoryId: repository.id };
  } finally {
    await close();
    await instance.stop();
    await host.close();
  }
}

/** Polls until the signal; returns the unexpected answers. Nothing listens while the instance is down. */
async function pollContinuously(expected: string, ended: AbortSignal): Promise<string[]> {
  const others: string[] = [];
  while (!ended.aborted) {
    const answer = await ask().catch(() => null);
    if (answer !== null && answer !== expected) others.push(answer);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return others;
}

async function pushTo(instance: TowpathInstance, url: string): Promise<void> {
  const made = await operatorPost(instance, "organizations/canals/api-keys", { name: "push", scope: "manage" });
  await git(code, "push", "--quiet", url.replace("://", `://ada:${made.key}@`), "HEAD:main");
}

test("SRC-3 GH-3 OPS-3 what the forge held is the organization's: its servers answer all the time, nothing is rebuilt, and a push to the new address is built", async () => {
  const { accountId, installationId, repositoryId } = await deployFromHost();
  await writeForgeData(dataDirectory, {
    accounts: [{ id: accountId, login: "ada", installationId }],
    repositories: [{ id: repositoryId, ownerId: accountId, name: "Words", madeBy: "person", from: code }],
  });
  const ended = new AbortController();
  const answers = pollContinuously("200 one", ended.signal);
  const instance = await startTowpath(dataDirectory, ports);
  const { pool, close } = openDatabase(databaseUrlOf(dataDirectory), { maxConnections: 1 });
  const builds = async () => (await pool.query("SELECT count(*)::int AS n FROM build")).rows[0].n;
  try {
    const url = `${instance.url}/git/canals/words.git`;
    await expect.poll(instance.output).toContain(`ada/Words: ${url}`);
    expect(instance.output()).toContain(join(dataDirectory, "forge-moved"));
    // The source is checked as soon as a worker runs.
    const checked = "SELECT count(*)::int AS n FROM git_source WHERE checked_at IS NOT NULL";
    await expect.poll(async () => (await pool.query(checked)).rows[0].n, { timeout: 30_000 }).toBe(1);
    await expect.poll(() => ask().catch(() => "down"), { timeout: 30_000 }).toBe("200 one");
    expect(await builds()).toBe(1);
    ended.abort();
    expect(await answers).toEqual([]);
    await commit("two");
    await pushTo(instance, url);
    await expect.poll(() => ask().catch(() => "down"), { timeout: 90_000 }).toBe("200 two");
    expect(await builds()).toBe(2);
  } finally {
    ended.abort();
    await close();
    await instance.stop();
  }
}, 300_000);
