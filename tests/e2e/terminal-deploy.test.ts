import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "@towpath/db";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { pushBranch } from "../instance/operator.ts";
import { plainRequirements, plainServer } from "../instance/plain-server.ts";
import { databaseUrlOf, runningProcessOf } from "../instance/processes.ts";
import { repositoryRoot, towpath } from "../instance/towpath-process.ts";
import { isThorough } from "../thorough.ts";

const dataDirectory = inject("dataDirectory");
const name = "terminal-deploy";
const { pool: database } = openDatabase(databaseUrlOf(dataDirectory), { maxConnections: 1 });
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "towpath-terminal-"));
  await writeFile(join(directory, "echo.py"), plainServer({ echo: '"hello"' }));
  await writeFile(join(directory, "requirements.txt"), plainRequirements);
  await writeFile(join(directory, "README.md"), "# Echo\n");
});
afterAll(async () => {
  await database.end();
  await rm(directory, { recursive: true, force: true });
});

const deploy = (...options: string[]) =>
  towpath("deploy", directory, "--name", name, ...options, "--data-dir", dataDirectory);

/** The commits of all builds, once every webhook has been processed. */
async function builds(): Promise<string[]> {
  const unprocessed = "SELECT count(*)::int AS n FROM webhook_delivery WHERE processed_at IS NULL";
  await expect.poll(async () => (await database.query(unprocessed)).rows[0].n, { timeout: 20_000 }).toBe(0);
  const sql =
    "SELECT commit_sha FROM build JOIN project ON project.id = project_id WHERE project.name = $1 ORDER BY sequence";
  return (await database.query(sql, [name])).rows.map((row) => row.commit_sha);
}

const strangerStatus = async () =>
  (await fetch(`${inject("serversUrl")}/${name}/mcp`, { method: "POST", body: "{}" })).status;

test("OPS-4 a deploy makes one commit and one build, and none when nothing changed", async () => {
  const first = await deploy("--entrypoint", "echo.py", "--public");
  expect([first.status, first.stdout]).toEqual([0, expect.stringContaining("Live: ")]);
  expect(await builds()).toHaveLength(1);
  const again = await deploy();
  expect([again.status, again.stdout]).toEqual([0, expect.stringMatching(/Nothing changed[\s\S]*Live: http/)]);
  expect(await builds()).toHaveLength(1);
});

test.runIf(isThorough)(
  "OPS-4 a redeploy changes only the passed settings: entrypoint and callers stay, deleted files are removed",
  async () => {
    await rm(join(directory, "README.md"));
    await appendFile(join(directory, "echo.py"), "\n# changed\n");
    expect((await deploy()).status).toBe(0);
    const built = await builds();
    expect(built).toHaveLength(2);
    expect(new Set(built).size).toBe(2);
    expect(await strangerStatus()).not.toBe(401);

    const closed = await deploy("--private");
    expect(closed.stdout).toContain("Can be called by members of the organization");
    await expect.poll(strangerStatus).toBe(401);
    expect(await builds()).toEqual(built);

    if (!isThorough) return;
    const rebuilt = await deploy("--rebuild");
    expect(rebuilt.stdout).toContain("Live: ");
    expect(await builds()).toEqual([...built, built[1]]);
    expect(await strangerStatus()).toBe(401);
  },
);

test.runIf(isThorough)(
  "PRJ-14 OPS-4 a rollback from the terminal makes the version before live again, or the one of a commit",
  async () => {
    const rollback = (...options: string[]) => towpath("rollback", name, ...options, "--data-dir", dataDirectory);
    const [first = "", second = ""] = await builds();
    const back = await rollback("--to", first.slice(0, 7));
    expect([back.status, back.stdout]).toEqual([0, expect.stringContaining(`Live: ${first.slice(0, 7)}`)]);
    const outputOf = async (command: string, ...args: string[]) =>
      (await towpath(command, ...args, "--data-dir", dataDirectory)).stdout;
    const headline = `Rolled back to ${first.slice(0, 7)}`;
    expect(back.stdout).toContain(`${headline}. The next push goes live as usual.`);
    expect(await outputOf("list")).toContain(headline);
    const shown = await outputOf("status", name);
    expect(shown).toContain(`${headline}. The next push goes live as usual.`);
    const command = /Make newest live: towpath (.+)/.exec(shown)?.[1] ?? "";
    expect(command).toBe(`rollback ${name} --to ${second.slice(0, 7)}`);
    const further = await rollback();
    expect([further.status, further.stderr]).toEqual([1, expect.stringContaining("There is no earlier version")]);
    const wrong = await rollback("--to", "0123456");
    expect([wrong.status, wrong.stderr]).toEqual([1, expect.stringContaining(`There are: ${second.slice(0, 7)}`)]);
    expect(await outputOf(command.split(" ")[0] ?? "", ...command.split(" ").slice(1))).toContain(
      `Live: ${second.slice(0, 7)}`,
    );
    expect(await outputOf("list")).not.toContain("Rolled back");
    expect(await outputOf("status", name)).not.toContain("Rolled back");
  },
);

test.runIf(isThorough)(
  "PRJ-14 OPS-4 a preview is promoted from the terminal, which follows it until production has it",
  async () => {
    const instance = { url: inject("url"), dataDirectory };
    const commit = await pushBranch(instance, { name, branch: "better", message: "Better" });
    const isLive =
      "SELECT count(*)::int AS n FROM route JOIN project ON project.id = project_id WHERE project.name = $1";
    await expect.poll(async () => (await database.query(isLive, [name])).rows[0].n, { timeout: 60_000 }).toBe(2);
    const promoted = await towpath("promote", name, "better", "--data-dir", dataDirectory);
    expect([promoted.status, promoted.stdout]).toEqual([
      0,
      expect.stringMatching(/Promoting [0-9a-f]{7} Better[\s\S]*Reused from the preview[\s\S]*Live: /),
    ]);
    const live = `SELECT commit_sha, build.trigger FROM route JOIN deployment ON deployment.id = deployment_id
    JOIN build ON build.id = build_id JOIN project ON project.id = route.project_id
    WHERE project.name = $1 AND deployment.environment = 'production'`;
    expect((await database.query(live, [name])).rows).toEqual([{ commit_sha: commit, trigger: "promote" }]);
    const unknown = await towpath("promote", name, "nowhere", "--data-dir", dataDirectory);
    expect([unknown.status, unknown.stderr]).toEqual([1, expect.stringContaining("there is no such branch")]);
  },
);

test.runIf(isThorough)(
  "CAP-2 PRJ-14 a call under way ends on the version that runs it while a new one goes live, and its repeat gets the result",
  { timeout: 240_000 },
  async () => {
    const source = await mkdtemp(join(tmpdir(), "towpath-redeploy-"));
    const long = "redeployed-under-way";
    // A session and a call of 45 s, which the plain server has not.
    const write = (version: string) =>
      writeFile(
        join(source, "server.py"),
        plainServer({ version: `"${version}"`, long: `"ended in ${version}"` }, "import asyncio\n")
          .replace('headers = [(b"content-type"', 'headers = [(b"mcp-session-id", b"one"), (b"content-type"')
          .replace(
            "            result = answer(",
            '            long = (message.get("params") or {}).get("name") == "long"\n' +
              "            await asyncio.sleep(45 if long else 0)\n            result = answer(",
          ),
      );
    const live = async (...options: string[]) => {
      const args = ["deploy", source, "--name", long, ...options, "--data-dir", dataDirectory];
      expect((await towpath(...args)).stdout).toContain("Live: ");
    };
    await writeFile(join(source, "requirements.txt"), plainRequirements);
    await write("first");
    await live("--entrypoint", "server.py", "--public");
    const url = `${inject("serversUrl")}/${long}/mcp`;
    const post = (message: object, headers: Record<string, string> = {}, signal?: AbortSignal) =>
      fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...message }),
        ...(signal && { signal }),
      });
    const opened = async () => {
      const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "c", version: "1" } };
      const answer = await post({ method: "initialize", params });
      await answer.text();
      return { "mcp-session-id": answer.headers.get("mcp-session-id") ?? "" };
    };
    const call = (name: string) => ({ method: "tools/call", params: { name, arguments: {} } });
    const keyed = { ...(await opened()), "idempotency-key": "once" };
    await post(call("long"), keyed, AbortSignal.timeout(1500)).catch(() => {});
    await write("second");
    await live();
    expect(await (await post(call("version"), await opened())).text()).toContain("second");
    const state = "SELECT state FROM kept_call JOIN project ON project.id = project_id WHERE project.name = $1";
    expect((await database.query(state, [long])).rows).toEqual([{ state: "running" }]);
    expect(await (await post(call("long"), keyed)).text()).toContain("ended in first");
    await rm(source, { recursive: true });
  },
);

/** Starts a deploy and resolves with the running command once the build has printed its first line. */
async function deployUntilFirstLine() {
  const args = ["deploy", directory, "--name", name, "--rebuild", "--data-dir", dataDirectory];
  const child = spawn(join(repositoryRoot, "towpath"), args, {
    env: { ...process.env, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const first = Promise.withResolvers<void>();
  const onData = (chunk: Buffer) => {
    output += chunk.toString();
    if (/^(fetch|plan) /m.test(output)) first.resolve();
  };
  child.stdout.on("data", onData);
  child.stderr.on("data", onData);
  const closed = once(child, "close").then(([status]) => Number(status));
  await Promise.race([first.promise, closed]);
  return { child, closed, output: () => output };
}

test.runIf(isThorough)(
  "RUN-8 OPS-4 a deploy follows its build across a restart of the site, and no line comes twice",
  async () => {
    const { closed, output } = await deployUntilFirstLine();
    process.kill(runningProcessOf(dataDirectory, "web"), "SIGKILL");
    expect(await closed, output()).toBe(0);
    expect(output()).toContain("Live: ");
    const lines = output()
      .split("\n")
      .filter((line) => /^(fetch|plan|install|inspect|rollout) /.test(line));
    const { rows } = await database.query(
      `SELECT count(*)::int AS n FROM build_log WHERE build_id = (SELECT build.id FROM build JOIN project
       ON project.id = project_id WHERE project.name = $1 ORDER BY sequence DESC LIMIT 1)`,
      [name],
    );
    expect(lines).toHaveLength(rows[0].n);
  },
);

test("OPS-4 Ctrl-C doesn't stop the build and prints where to follow it", async () => {
  const { child, closed, output } = await deployUntilFirstLine();
  child.kill("SIGINT");
  expect(await closed).toBe(130);
  const page = /The build continues[\s\S]*?(http\S+\/build-logs\/\S+)/.exec(output())?.[1] ?? "";
  const { url } = JSON.parse(await readFile(join(dataDirectory, "running.json"), "utf8"));
  expect(page.startsWith(url)).toBe(true);
  const id = page.split("/").at(-1);
  const status = async () => (await database.query("SELECT status FROM build WHERE id = $1", [id])).rows[0].status;
  await expect.poll(status, { timeout: 60_000 }).toBe("succeeded");
});
