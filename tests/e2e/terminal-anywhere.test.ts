import { appendFile, cp, mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "@towpath/db";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { operatorPost, operatorToken } from "../instance/operator.ts";
import { databaseUrlOf } from "../instance/processes.ts";
import { repositoryRoot, towpathWith } from "../instance/towpath-process.ts";
import { isThorough } from "../thorough.ts";

// The terminal without a data directory, as on another machine: it has only the address and a key. Each command is a
// process: `./towpath test thorough` runs more variants.

const instance = { url: inject("url"), dataDirectory: inject("dataDirectory") };
const name = "terminal-anywhere";
const { pool: database } = openDatabase(databaseUrlOf(instance.dataDirectory), { maxConnections: 1 });
let home: string;
let slug: string;
let key: string;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "towpath-anywhere-"));
  await cp(join(repositoryRoot, "python/samples/echo"), join(home, "server"), { recursive: true });
  await appendFile(
    join(home, "server/echo.py"),
    '\n\nimport os\nimport sys\n\nprint("printed at the start", file=sys.stderr)\n\n\n@mcp.tool\ndef greet(times: int) -> str:\n' +
      '    """Greet."""\n    return os.environ["GREETING"] * times\n',
  );
  slug = (await database.query("SELECT slug FROM organization ORDER BY created_at LIMIT 1")).rows[0].slug;
  key = await newKey("manage");
});
afterAll(async () => {
  await database.end();
  await rm(home, { recursive: true, force: true });
});

async function newKey(scope: "call" | "manage"): Promise<string> {
  const created = await operatorPost(instance, `organizations/${slug}/api-keys`, { name: `anywhere ${scope}`, scope });
  return String(created.key);
}

/** Nothing of this machine's own instance or login is found. */
const elsewhere = () => ({
  XDG_CONFIG_HOME: join(home, "config"),
  XDG_DATA_HOME: join(home, "data"),
  XDG_STATE_HOME: join(home, "state"),
  TOWPATH_DATA_DIR: "",
});
const run = (...args: string[]) => towpathWith({ env: elsewhere() }, ...args);
const runWith = (input: string, ...args: string[]) => towpathWith({ env: elsewhere(), input }, ...args);

/** Output of a command with `--json`, parsed. */
async function json(...args: string[]) {
  const { status, stdout, stderr } = await run(...args, "--json");
  expect([args, status, stderr]).toEqual([args, 0, expect.any(String)]);
  return JSON.parse(stdout);
}

test("OPS-4 login takes a key that may manage, keeps it where only its user can read it, and refuses others", async () => {
  expect((await run("list")).stderr).toContain("towpath login URL");
  const calling = await runWith(await newKey("call"), "login", instance.url);
  expect([calling.status, calling.stderr]).toEqual([1, expect.stringContaining("may only call servers. Create one")]);
  if (isThorough) {
    const operator = await runWith(await operatorToken(instance), "login", instance.url);
    expect([operator.status, operator.stderr]).toEqual([1, expect.stringContaining("is not an API key")]);
    const open = await runWith(key, "login", "http://towpath.example.com");
    expect([open.status, open.stderr]).toEqual([2, expect.stringContaining("has no TLS")]);
  }
  const { status, stdout, stderr } = await runWith(`${key}\n`, "login", instance.url);
  expect([status, stdout]).toEqual([0, expect.stringContaining(`Logged in to ${instance.url}`)]);
  expect(stdout + stderr).not.toContain(key);
  const file = join(home, "config/towpath/login.json");
  expect(((await stat(file)).mode & 0o777).toString(8)).toBe("600");
  expect(JSON.parse(await readFile(file, "utf8"))).toEqual({ url: instance.url, key });
});

test("OPS-4 a directory is deployed to an instance elsewhere, with variables and a message, as lines of JSON", async () => {
  const { status, stdout, stderr } = await towpathWith(
    { env: { ...elsewhere(), GREETING: "hello " } },
    "deploy",
    join(home, "server"),
    "--name",
    name,
    "--env",
    "GREETING",
    "--message",
    "From elsewhere",
    "--json",
  );
  expect([status, stderr]).toEqual([0, expect.any(String)]);
  const events = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(new Set(events.map(({ event }) => event))).toEqual(new Set(["line", "end"]));
  expect(events.at(-1)).toMatchObject({ event: "end", status: "succeeded", url: expect.stringContaining(name) });
  const sql = `SELECT commit_message, actor FROM build JOIN project ON project.id = build.project_id
    JOIN audit_log ON audit_log.project_id = project.id AND action = 'project.create' WHERE project.name = $1`;
  const { rows } = await database.query(sql, [name]);
  expect(rows).toEqual([{ commit_message: "From elsewhere", actor: expect.stringMatching(/^apiKey:/) }]);
});

test.runIf(isThorough)("OPS-4 list, status, open and inspect say what there is, for people and as JSON", async () => {
  const url = expect.stringContaining(name);
  const listed = { name, url, isLive: true, latestBuild: "succeeded", rolledBackTo: null, waitingForkPullRequests: 0 };
  const clone = `${instance.url}/git/${slug}/${name}.git`;
  const source = { kind: "repository", name, url: clone, previews: true, problem: null };
  expect(await json("list")).toContainEqual({ ...listed, source });
  expect((await run("list")).stdout).toMatch(new RegExp(`^${name} +live +http\\S+ +\\S+/git/\\S+/${name}\\.git$`, "m"));
  if (isThorough) expect((await run("status", name)).stdout).toMatch(new RegExp(`^ +source +\\S+/${name}\\.git$`, "m"));
  expect(await json("status", name)).toMatchObject({ name, live: { tools: 2 }, latestBuild: { status: "succeeded" } });
  expect((await run("open", name)).stdout.trim()).toBe(`${instance.url}/${slug}/${name}`);
  const { stdout } = await run("inspect", name);
  for (const text of ["greet(times: integer)", "echo(text: string)", "echo://about", "repeat(text)"])
    expect(stdout).toContain(text);
  if (!isThorough) return;
  expect((await json("inspect", name)).tools.map((tool: { tool_name: string }) => tool.tool_name)).toEqual([
    "echo",
    "greet",
  ]);
});

test("OPS-4 a tool is called through the gateway; arguments have the types of the tool; its error is status 1", async () => {
  const greeted = await run("call", name, "greet", "times=2");
  expect([greeted.status, greeted.stdout]).toEqual([0, "hello hello \n"]);
  if (isThorough) expect((await run("call", name, "echo", "text=12")).stdout).toBe("12\n");
  expect(await json("call", name, "echo", "--args", '{"text": "as JSON"}')).toMatchObject({
    content: [{ type: "text", text: "as JSON" }],
  });
  const wrong = await run("call", name, "greet", "times=many");
  expect([wrong.status, wrong.stderr]).toEqual([1, expect.stringContaining("times")]);
  if (isThorough) expect((await run("call", name, "echo", "text")).status).toBe(2);
});

test.runIf(isThorough)("OPS-4 variables are listed, set from stdin and removed; no value is ever printed", async () => {
  const secret = "a very secret value";
  const set = await runWith(`${secret}\n`, "env", name, "set", "API_KEY", "--sensitive");
  expect([set.status, set.stdout]).toEqual([0, expect.stringMatching(/API_KEY +sensitive · production, preview/)]);
  const both = await run("env", name, "set", `API_URL=${secret}`, "GREETING=hi ", "--environment", "preview");
  expect(both.stdout).toMatch(/API_URL +preview/);
  if (isThorough) {
    const tooLarge = await run("env", name, "set", "FIRST=1", `SECOND=${"x".repeat(65 * 1024)}`);
    expect([tooLarge.status, tooLarge.stderr]).toEqual([1, expect.stringContaining("64")]);
  }
  const listed = await json("env", name);
  expect(listed.map((each: { keyName: string }) => each.keyName)).toEqual(["API_KEY", "API_URL", "GREETING"]);
  expect(JSON.stringify(listed) + set.stdout + both.stdout).not.toContain(secret);
  expect((await run("env", name, "remove", "API_URL")).stdout).not.toContain("API_URL");
  const missing = await run("env", name, "remove", "GREETING", "API_KEI");
  const problem = "No variable named API_KEI. Did you mean API_KEY? Nothing was removed.";
  expect([missing.status, missing.stderr]).toEqual([1, expect.stringContaining(problem)]);
  expect(await json("env", name)).toHaveLength(2);
});

test("OPS-4 logs of requests, of the server and of the build", async () => {
  let lines: readonly string[] = [];
  const requests = async () => {
    lines = (await run("logs", name, "tool:greet", "--json")).stdout.trim().split("\n");
    return lines.length;
  };
  await expect.poll(requests, { timeout: 20_000 }).toBe(2);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ method: "tools/call", target: "greet" });
  // Callers are shown by name.
  expect((await run("logs", name, "tool:greet")).stdout).not.toMatch(/user:|key:/);
  await expect.poll(async () => (await run("logs", name, "--server")).stdout).toContain("printed at the start");
  const build = await run("logs", name, "--build", "--follow");
  expect([build.status, build.stdout]).toEqual([0, expect.stringMatching(/fetch[\s\S]*install[\s\S]*inspect/)]);
  if (!isThorough) return;
  expect(
    (await run("logs", name, "--build", "--json")).stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))[0],
  ).toMatchObject({ line: 1, phase: "fetch" });
});

test.runIf(isThorough)(
  "OPS-4 a preview is deployed beside production; a build that has ended can't be canceled",
  async () => {
    await appendFile(join(home, "server/echo.py"), "\n# Of the preview.\n");
    const preview = await run("deploy", join(home, "server"), "--name", name, "--preview", "new-tool");
    expect([preview.status, preview.stdout]).toEqual([0, expect.stringContaining("Live: ")]);
    const sql = `SELECT branch.name FROM branch JOIN project ON project.id = project_id
    JOIN route ON route.branch_id = branch.id WHERE project.name = $1 ORDER BY 1`;
    expect((await database.query(sql, [name])).rows.map((row) => row.name)).toEqual(["main", "new-tool"]);
    const idle = await run("cancel", name);
    expect([idle.status, idle.stderr]).toEqual([
      1,
      expect.stringContaining("No build of terminal-anywhere is queued or running"),
    ]);
    if (!isThorough) return;
    const again = await run("deploy", name);
    expect([again.status, again.stdout]).toEqual([0, expect.stringContaining("The newest version is built already")]);
  },
);

test.runIf(isThorough)("OPS-4 CI needs no login: address and key are variables", async () => {
  const env = { ...elsewhere(), XDG_CONFIG_HOME: join(home, "none"), TOWPATH_URL: instance.url, TOWPATH_API_KEY: key };
  const { status, stdout } = await towpathWith({ env }, "status", name);
  expect([status, stdout]).toEqual([0, expect.stringContaining("succeeded")]);
  const wrong = await towpathWith({ env: { ...env, TOWPATH_API_KEY: `${key}x` } }, "status", name);
  expect([wrong.status, wrong.stderr]).toEqual([1, expect.stringContaining("Create another one")]);
});

test("OPS-4 a server is deleted by its name typed twice, and after logout nothing works", async () => {
  const asked = await run("delete", name);
  expect([asked.status, asked.stderr]).toEqual([2, expect.stringContaining(`--yes ${name}`)]);
  const wrong = await run("delete", name, "--yes", "another");
  expect([wrong.status, wrong.stderr]).toEqual([1, expect.stringContaining("Nothing was deleted")]);
  expect(await json("delete", name, "--yes", name)).toEqual({ deleted: name });
  const gone = await run("status", name);
  expect([gone.status, gone.stderr]).toEqual([1, expect.stringContaining("No server named terminal-anywhere.")]);
  expect((await run("logout")).stdout).toContain(`Logged out of ${instance.url}`);
  expect((await run("list")).stderr).toContain("towpath login URL");
});
