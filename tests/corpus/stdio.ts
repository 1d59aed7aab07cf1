import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { listTools } from "./list-tools.ts";
import { type CorpusServer, nameOf } from "./server.ts";

const run = promisify(execFile);

/** The server's tools when its own command starts it over stdio. */
export type Alone = { readonly tools: readonly string[] } | { readonly problem: string };

const installMs = 300_000;
const answerMs = 60_000;

/**
 * Installs the source by its lock or dependencies, like `uv run`, starts its command without Towpath, and lists its
 * tools. Downloads stay in `scratch`. Without a source, the package is installed.
 */
export async function listAlone(server: CorpusServer, source: string | null, scratch: string): Promise<Alone> {
  const directory = join(scratch, nameOf(server));
  await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  await mkdir(scratch, { recursive: true });
  if (source === null) await mkdir(directory);
  else await cp(source, directory, { recursive: true });
  try {
    const environment = await install(directory, source === null ? server.package : ".", join(scratch, ".uv-cache"));
    const command = join(environment, "bin", await commandOf(server, directory, environment));
    return { tools: await toolsOf(server, command, directory) };
  } catch (error) {
    const problem = error instanceof Error && "stderr" in error ? String(error.stderr) : String(error);
    return { problem: problem.trim().split("\n").slice(-12).join("\n") };
  } finally {
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Other Pythons of this machine, newest first, for servers that require another version. */
async function otherPythons(): Promise<string[]> {
  const versions = join(process.env.PYENV_ROOT ?? join(homedir(), ".pyenv"), "versions");
  const found = await readdir(versions).catch(() => []);
  const newestFirst = found.toSorted((a, b) => b.localeCompare(a, "en", { numeric: true }));
  return newestFirst.map((version) => join(versions, version, "bin", "python"));
}

async function install(directory: string, what: string, cache: string): Promise<string> {
  let first: unknown;
  for (const python of [null, ...(await otherPythons())]) {
    try {
      return await installWith(directory, what, python, cache);
    } catch (error) {
      first ??= error;
      const stderr = error instanceof Error && "stderr" in error ? String(error.stderr) : "";
      if (!/interpreter|Python version|requires-python|python-build-standalone/i.test(stderr)) throw error;
    }
  }
  throw first;
}

async function installWith(directory: string, what: string, python: string | null, cache: string): Promise<string> {
  const environment = join(directory, ".venv");
  await rm(environment, { recursive: true, force: true });
  const env = { ...process.env, VIRTUAL_ENV: environment, UV_CACHE_DIR: cache, UV_PYTHON_DOWNLOADS: "never" };
  const options = { cwd: directory, timeout: installMs, env };
  const chosen = python === null ? [] : ["--python", python];
  if (existsSync(join(directory, "uv.lock"))) {
    const sync = (...more: string[]) =>
      run("uv", ["sync", "--quiet", "--no-dev", "--no-editable", ...more, ...chosen], options);
    // Like `uv run`, lock again if the lock is out of date.
    await sync("--frozen").catch((error: unknown) => {
      if (!/needs to be updated/.test(String(error))) throw error;
      return sync();
    });
  } else {
    await run("uv", ["venv", "--quiet", ...chosen, environment], options);
    await run("uv", ["pip", "install", "--quiet", what], options);
  }
  return environment;
}

/** The corpus's command, the one named like the package, or the package's only one. */
async function commandOf(server: CorpusServer, directory: string, environment: string): Promise<string> {
  if (server.command !== undefined) return server.command;
  const name = nameOf(server);
  if (existsSync(join(environment, "bin", name))) return name;
  const project = await readFile(join(directory, "pyproject.toml"), "utf8").catch(() => "");
  const scripts = /^\[project\.scripts\]\n((?:(?!\[).*\n?)*)/m.exec(project)?.[1] ?? "";
  const found = [...scripts.matchAll(/^\s*"?([\w.-]+)"?\s*=/gm)].map((match) => match[1] ?? "");
  const first = found.find((each) => existsSync(join(environment, "bin", each)));
  if (first === undefined) throw new Error("It has no command.");
  return first;
}

/** Strangers' code writes only to its own directory, sees no other temporary files and has no network. */
const isolation = (directory: string): string[] => [
  "--ro-bind",
  "/",
  "/",
  "--dev",
  "/dev",
  "--proc",
  "/proc",
  "--tmpfs",
  "/tmp",
  "--bind",
  directory,
  directory,
  "--unshare-all",
  "--die-with-parent",
  "--cap-drop",
  "ALL",
];

async function toolsOf(server: CorpusServer, command: string, directory: string): Promise<string[]> {
  const transport = new StdioClientTransport({
    command: "bwrap",
    args: [...isolation(directory), "--", command, ...(server.arguments ?? [])],
    cwd: directory,
    env: { PATH: process.env.PATH ?? "", HOME: directory, ...server.environment },
    stderr: "pipe",
  });
  let stderr = "";
  transport.stderr?.on("data", (chunk: Buffer) => {
    stderr = (stderr + chunk.toString()).slice(-4_000);
  });
  const client = new Client({ name: "corpus", version: "1" });
  try {
    await client.connect(transport, { timeout: answerMs });
    return await listTools(client, answerMs);
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : error}\n${stderr}`);
  } finally {
    await client.close().catch(() => {});
  }
}
