import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { openDatabase } from "@towpath/db";
import { freePort } from "@towpath/role/testing";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { operatorPost, pushUrlOf } from "../instance/operator.ts";
import { databaseUrlOf } from "../instance/processes.ts";
import { repositoryRoot, towpath, towpathWith } from "../instance/towpath-process.ts";
import { isThorough } from "../thorough.ts";

const run = promisify(execFile);
const instance = { url: inject("url"), dataDirectory: inject("dataDirectory") };
const serversUrl = inject("serversUrl");
const { pool: database } = openDatabase(databaseUrlOf(instance.dataDirectory), { maxConnections: 1 });
const atInstance = ["--data-dir", instance.dataDirectory];
/** A server is installed twice: for its build, and without Towpath. */
const timeout = 300_000;
let directory: string;
const started: ChildProcess[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "towpath-moved-"));
});
afterAll(async () => {
  // uv passes it on to Python.
  await Promise.all(
    started.map(async (child) => {
      if (child.exitCode !== null) return;
      const closed = once(child, "close");
      child.kill("SIGTERM");
      await closed;
    }),
  );
  await database.end();
  await rm(directory, { recursive: true, force: true });
});

const fastmcp = `
from fastmcp import FastMCP
from greetings import hello

mcp = FastMCP("Moved")

@mcp.tool
def greet(name: str) -> str:
    """Greet somebody."""
    return hello(name)

@mcp.resource("text://motto")
def motto() -> str:
    return "Leave when you like."
`;

const lowlevel = `
from mcp.server.lowlevel import Server
import mcp.types as types

server = Server("low")

@server.list_tools()
async def tools():
    return [types.Tool(name="add", inputSchema={"type": "object", "properties": {"a": {"type": "integer"}}})]

@server.call_tool()
async def call(name, arguments):
    return [types.TextContent(type="text", text=str(arguments["a"] + 1))]
`;

const stdioOnly = `
import json, os, sys

for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    if method == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                  "serverInfo": {"name": "by hand", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [{"name": "count", "inputSchema": {"type": "object"}}]}
    elif method == "tools/call":
        result = {"content": [{"type": "text", "text": sys.argv[1] + os.environ["ENDING"]}]}
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
`;

/** Deploys files as a server that anyone can call. */
async function deploy(name: string, files: Readonly<Record<string, string>>, ...options: string[]): Promise<void> {
  const code = join(directory, `${name}-code`);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(code, path, ".."), { recursive: true });
    await writeFile(join(code, path), text);
  }
  const deployed = await towpath("deploy", code, "--name", name, "--public", ...options, ...atInstance);
  expect([deployed.status, deployed.stdout + deployed.stderr]).toEqual([0, expect.stringContaining("Live: ")]);
}

/** Names of tools and what a call of one answers. */
async function askedAt(url: string, tool: string, args: Readonly<Record<string, unknown>>) {
  const client = new Client({ name: "mover", version: "1.0.0" });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  const { tools } = await client.listTools();
  const { content } = await client.callTool({ name: tool, arguments: args });
  await client.close();
  return { tools, content };
}

const atGateway = (name: string, tool: string, args = {}) => askedAt(`${serversUrl}/${name}/mcp`, tool, args);

async function exported(name: string, ...more: string[]): Promise<string> {
  const target = join(directory, `${name}-export`);
  const { status, stdout, stderr } = await towpathWith(
    { env: inject("databaseSettings") },
    ...["export", name, target, ...more, ...atInstance],
  );
  expect([status, stdout + stderr]).toEqual([0, expect.stringContaining(`Written to ${target}`)]);
  return target;
}

/** Without what Towpath's own processes have of Python or Node; with the machine's certificates and proxies. */
const outside = () => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(TOWPATH|PYTHON|NODE|VITEST)/.test(name))),
  PATH: `${join(repositoryRoot, ".toolchain/uv/bin")}:${process.env.PATH}`,
});

/** Starts an exported server with the last of some commands, after the others. Resolves to its address. */
async function serve(target: string, commands: readonly string[], more = {}): Promise<string> {
  const port = await freePort();
  const env = { ...outside(), ...more };
  for (const command of commands.slice(0, -1)) {
    const [program = "", ...args] = command.split(" ");
    await run(program, args, { cwd: target, env });
  }
  const [program = "", ...args] = (commands.at(-1) ?? "").split(" ");
  const child = spawn(program, [...args, "--listen", `127.0.0.1:${port}`], { cwd: target, env, detached: false });
  started.push(child);
  let output = "";
  child.stderr.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  const closed = once(child, "close");
  while (!output.includes("Serving MCP at")) {
    const ended = await Promise.race([closed, sleep(50)]);
    if (Array.isArray(ended)) throw new Error(`The exported server ended:\n${output}`);
  }
  return `http://127.0.0.1:${port}/mcp`;
}

/** As its README says. */
async function serveByReadme(target: string): Promise<string> {
  const readme = await readFile(join(target, "README.md"), "utf8");
  const [, block = ""] = /^```sh\n(.*?)^```/ms.exec(readme) ?? [];
  return serve(target, block.trim().split("\n"));
}

/** What an image would run: its steps with uv in a directory with the files that it copies. */
async function serveByDockerfile(target: string): Promise<string> {
  const image = `${target}-image`;
  await mkdir(image);
  const steps = (await readFile(join(target, "Dockerfile"), "utf8")).trim().split("\n");
  const ignored = (await readFile(join(target, ".dockerignore"), "utf8")).trim().split("\n");
  const commands: string[] = [];
  for (const step of steps) {
    if (step.startsWith("COPY "))
      await cp(target, image, {
        recursive: true,
        filter: (path) => !ignored.some((each) => path === join(target, each)),
      });
    if (step.startsWith("RUN uv ")) commands.push(...step.slice("RUN ".length).split(" && "));
    if (step.startsWith("CMD "))
      commands.push((JSON.parse(step.slice("CMD ".length)) as string[]).slice(0, -2).join(" "));
  }
  const [, python = ""] = /^FROM python:(.*)-slim$/.exec(steps[0] ?? "") ?? [];
  return serve(image, commands, { UV_PYTHON: python });
}

const servers = {
  stdio: {
    files: { "server.py": stdioOnly, "requirements.txt": "uvicorn\n" },
    options: ["--entrypoint", "server.py", "--args", "'by hand'", "--env", "ENDING=!"],
    call: ["count", {}],
  },
  fastmcp: {
    files: {
      "server.py": fastmcp,
      "greetings.py": 'def hello(name):\n    return f"Hello {name}"\n',
      "requirements.txt": "fastmcp>=2,<3\n",
    },
    options: [],
    call: ["greet", { name: "Ada" }],
  },
  lowlevel: {
    files: { "server.py": lowlevel, "requirements.txt": "mcp>=1.9,<2\n" },
    options: [],
    call: ["add", { a: 2 }],
  },
} as const;

/** Installing the other kinds takes a minute. */
const tried = Object.entries(servers).filter(([kind]) => isThorough || kind === "stdio");

test.each(tried)(
  "OPS-8 an exported server runs without Towpath and offers the same: %s",
  { timeout },
  async (kind, { files, options, call: [tool, args] }) => {
    const name = `moving-${kind}`;
    await deploy(name, files, ...options);
    const target = await exported(name, "--with-variables");
    const here = await atGateway(name, tool, args);
    expect(here.tools).toHaveLength(1);
    expect(await askedAt(await serveByReadme(target), tool, args)).toEqual(here);
    const surface = JSON.parse(await readFile(join(target, "surface.json"), "utf8"));
    expect(surface.tools.map(({ tool_name }: { tool_name: string }) => tool_name)).toEqual([tool]);
  },
);

test.runIf(isThorough)("OPS-8 the steps of its Dockerfile install and start it", { timeout }, async () => {
  const target = join(directory, "moving-lowlevel-export");
  expect(await askedAt(await serveByDockerfile(target), "add", { a: 2 })).toEqual(
    await atGateway("moving-lowlevel", "add", { a: 2 }),
  );
});

test("OPS-8 KEY-2 values of variables are in a file of their own that only its user can read, and the audit log says so", async () => {
  const file = join(directory, "moving-stdio-export/variables.json");
  expect([JSON.parse(await readFile(file, "utf8")), (await stat(file)).mode & 0o777]).toEqual([{ ENDING: "!" }, 0o600]);
  const sql = `SELECT actor, action, detail->>'reason' AS reason FROM audit_log JOIN project ON project.id = project_id
    WHERE project.name = 'moving-stdio' AND (action = 'project.export' OR detail->>'reason' = 'export') ORDER BY action`;
  expect((await database.query(sql)).rows).toEqual([
    { actor: "operator", action: "project.export", reason: null },
    { actor: "operator", action: "secret.decrypt", reason: "export" },
  ]);
});

test("OPS-8 an imported server answers the same, with its history, settings and variables", { timeout }, async () => {
  const [from, to] = [join(directory, "moving-stdio-export"), "moved-stdio"];
  const { status, stdout, stderr } = await towpath("import", from, "--name", to, ...atInstance);
  expect([status, stdout + stderr]).toEqual([
    0,
    expect.stringMatching(/Pushing the repository with its history[\s\S]*Live: /),
  ]);
  expect(await atGateway(to, "count")).toEqual(await atGateway("moving-stdio", "count"));
  const headOf = async (name: string) =>
    (await run("git", ["ls-remote", await pushUrlOf(instance, name), "refs/heads/main"])).stdout;
  expect(await headOf(to)).toBe(await headOf("moving-stdio"));
  const { rows } = await database.query("SELECT auth_mode FROM project WHERE name = $1", [to]);
  expect(rows).toEqual([{ auth_mode: "towpath-public" }]);
});

test.runIf(isThorough)(
  "OPS-8 OPS-4 a key exports to a tar from elsewhere, without values, which are asked for when it is imported",
  {
    timeout,
  },
  async () => {
    const { slug } = (await database.query("SELECT slug FROM organization ORDER BY created_at LIMIT 1")).rows[0];
    const { key } = await operatorPost(instance, `organizations/${slug}/api-keys`, { name: "mover", scope: "manage" });
    const env = {
      TOWPATH_URL: instance.url,
      TOWPATH_API_KEY: String(key),
      TOWPATH_DATA_DIR: "",
      XDG_CONFIG_HOME: directory,
    };
    const tar = join(directory, "moving.tar");
    const refused = await towpathWith({ env }, "export", "moving-stdio", tar, "--with-variables");
    expect([refused.status, refused.stderr]).toEqual([2, expect.stringContaining("on the instance's machine only")]);
    const { status, stdout } = await towpathWith({ env }, "export", "moving-stdio", tar);
    expect([status, stdout]).toEqual([0, expect.stringContaining("Without the values of ENDING.")]);
    expect((await run("tar", ["-tf", tar])).stdout).toContain("moving-stdio/SHA256SUMS\n");
    const again = await towpathWith({ env }, "export", "moving-stdio", tar);
    expect([again.status, again.stderr]).toEqual([1, expect.stringContaining("exists already")]);

    const nobody = await towpathWith({ env }, "import", tar, "--name", "moved-by-key");
    expect([nobody.status, nobody.stderr]).toEqual([
      2,
      expect.stringContaining("pass --env ENDING=…. Nothing was made."),
    ]);
    const imported = await towpathWith({ env }, "import", tar, "--name", "moved-by-key", "--env", "ENDING=?");
    expect([imported.status, imported.stdout + imported.stderr]).toEqual([0, expect.stringContaining("Live: ")]);
    expect((await atGateway("moved-by-key", "count")).content).toEqual([{ type: "text", text: "by hand?" }]);
  },
);

test.runIf(isThorough)(
  "OPS-8 bad exports and taken names are refused before anything is made",
  { timeout },
  async () => {
    const made = async () =>
      (
        await database.query(
          "SELECT (SELECT count(*) FROM project) AS projects, (SELECT count(*) FROM repository) AS repositories",
        )
      ).rows;
    const unpacked = async () => (await readdir(tmpdir())).filter((name) => name.startsWith("towpath-import-"));
    const [before, unpackedBefore] = [await made(), await unpacked()];
    const good = join(directory, "moving-stdio-export");
    const refused = async (source: string, ...more: string[]) => {
      const { status, stdout, stderr } = await towpath("import", source, ...more, ...atInstance);
      expect(status).toBe(1);
      return stdout + stderr;
    };
    expect(await refused(good)).toContain("There is a server moving-stdio already");
    const exportedAgain = await towpath("export", "moving-stdio", join(directory, "whole.tar"), ...atInstance);
    expect(exportedAgain.status).toBe(0);
    const whole = await readFile(join(directory, "whole.tar"));
    await writeFile(join(directory, "half.tar"), whole.subarray(0, whole.length / 2));
    expect(await refused(join(directory, "half.tar"), "--name", "never-made")).toContain("not a whole export");
    const damaged = join(directory, "damaged-export");
    await cp(good, damaged, { recursive: true });
    const history = join(damaged, "repository.bundle");
    await truncate(history, (await stat(history)).size - 30);
    await run("sh", ["-c", "sha256sum $(cut -c67- SHA256SUMS) >sums && mv sums SHA256SUMS"], { cwd: damaged });
    expect(await refused(damaged, "--name", "never-made")).toContain("can't be read. Export the server again.");
    const document = JSON.parse(await readFile(join(good, "towpath.json"), "utf8"));
    await writeFile(join(good, "towpath.json"), JSON.stringify({ ...document, format: 9 }));
    expect(await refused(good, "--name", "never-made")).toContain("newer release");
    await mkdir(join(directory, "outside/weather"), { recursive: true });
    await run("tar", ["-cPf", "outside.tar", "--transform", "s,weather,weather/../..,", "weather"], {
      cwd: join(directory, "outside"),
    });
    expect(await refused(join(directory, "outside/outside.tar"), "--name", "never-made")).toContain(
      "leads out of its directory",
    );
    expect(await made()).toEqual(before);
    expect(await unpacked()).toEqual(unpackedBefore);
  },
);
