import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { openDatabase } from "@towpath/db";
import { databaseUrlOf } from "../instance/processes.ts";
import { instancePorts, repositoryRoot, startTowpath, towpath } from "../instance/towpath-process.ts";
import { type Clock, prepareClock } from "./clock.ts";

const run = promisify(execFile);

/** A running instance with servers on it, for faults to happen to. */
export type Rig = {
  readonly dataDirectory: string;
  /** Address of the dashboard. */
  readonly url: string;
  readonly serversUrl: string;
  /** Servers with a tool `echo`. */
  readonly servers: readonly string[];
  readonly database: ReturnType<typeof openDatabase>["pool"];
  /** Pause between two calls of a client, milliseconds. */
  readonly callPauseMs: number;
  /** How often each kill is made. */
  readonly times: number;
  /** Directory of the gateway's state if it is a small file system of its own, else null. */
  readonly smallDisk: string | null;
  /** Moves the time that roles see; null when this host can't do that. */
  readonly clock: Clock | null;
};

export const endpointOf = (rig: Rig, name: string) => `${rig.serversUrl}/${name}/mcp`;

/** A server that only known callers may call. */
export const privateServer = "chaos-private";

/** Echo in variants: as the sample has it, with a wait, and with a line in the log for each call. */
const variants: Readonly<Record<string, string>> = {
  "chaos-plain": "    return text",
  "chaos-waiting": "    await asyncio.sleep(0.05)\n    return text",
  "chaos-chatty": '    print(f"asked for {text}", flush=True)\n    return text',
};

const echoSource = (body: string) => `import asyncio

from fastmcp import Context, FastMCP

mcp = FastMCP("Echo")


@mcp.tool
async def echo(text: str) -> str:
    """Repeat the text unchanged."""
${body}


@mcp.tool
async def watch(text: str, context: Context) -> str:
    """Repeat the text after two seconds, and report progress meanwhile."""
    for step in range(10):
        await context.report_progress(step, 10)
        await asyncio.sleep(0.2)
    return text
`;

/**
 * Deploys a server from its source, open to all unless the options say `--private`; its directory is made and removed.
 * @throws Error with what the terminal printed.
 */
export async function deployServer(
  dataDirectory: string,
  name: string,
  source: string,
  options: readonly string[] = [],
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "towpath-chaos-server-"));
  const requirements = join(repositoryRoot, "python", "samples", "echo", "requirements.txt");
  await cp(requirements, join(directory, "requirements.txt"));
  await writeFile(join(directory, "server.py"), source);
  const access = options.includes("--private") ? [] : ["--public"];
  const args = ["deploy", directory, "--name", name, "--data-dir", dataDirectory, ...access, ...options];
  const { status, stdout, stderr } = await towpath(...args);
  await rm(directory, { recursive: true, force: true });
  if (status !== 0) throw new Error(`${name} was not deployed:\n${stdout}${stderr}`);
}

const accessOf = (name: string) => (name === privateServer ? ["--private"] : []);

/** Deploys an echo server again with changed code: another remark. */
export const redeployEcho = (rig: Rig, name: string, remark: string) => {
  const source = `# ${remark}\n${echoSource(variants[name] ?? "    return text")}`;
  return deployServer(rig.dataDirectory, name, source, accessOf(name));
};

/** Deploys the variants of echo; returns their names. */
export async function deployEchoes(dataDirectory: string, names = Object.keys(variants)): Promise<string[]> {
  for (const name of names)
    await deployServer(dataDirectory, name, echoSource(variants[name] ?? "    return text"), accessOf(name));
  return names;
}

/** Only root may mount; without, the disk cannot be filled without harm to others. */
async function mountSmallDisk(directory: string): Promise<boolean> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  return run("mount", ["-t", "tmpfs", "-o", "size=24m,mode=0700", "tmpfs", directory]).then(
    () => true,
    () => false,
  );
}

/** Starts an instance of its own with the echo servers. `stop` removes all of it. */
export async function startRig(times: number): Promise<Rig & { stop(): Promise<void> }> {
  const dataDirectory = await mkdtemp(join(tmpdir(), "towpath-chaos-"));
  // An instance refuses a directory with foreign content, so the first start makes it.
  const ports = await instancePorts();
  await (await startTowpath(dataDirectory, ports)).stop();
  const disk = join(dataDirectory, "gateway");
  const isSmall = await mountSmallDisk(disk);
  const tools = await mkdtemp(join(tmpdir(), "towpath-chaos-tools-"));
  const faked = await prepareClock(tools);
  const instance = await startTowpath(dataDirectory, ports, faked ? { PATH: faked.path } : {});
  const database = openDatabase(databaseUrlOf(dataDirectory), { maxConnections: 2 });
  const stop = async () => {
    await database.close();
    await instance.stop();
    if (isSmall) await run("umount", [disk]);
    for (const directory of [dataDirectory, tools]) await rm(directory, { recursive: true, force: true });
  };
  try {
    const { url, serversUrl } = instance;
    const servers = await deployEchoes(dataDirectory);
    const smallDisk = isSmall ? disk : null;
    return {
      dataDirectory,
      url,
      serversUrl,
      servers,
      database: database.pool,
      callPauseMs: 50,
      times,
      smallDisk,
      clock: faked?.clock ?? null,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
