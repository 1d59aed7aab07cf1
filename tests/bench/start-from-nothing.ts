// A server's first handshake and list when nothing of it runs: from a prewarmed interpreter, with an ordinary start, and bare Python,
// by turns in one run, and how many times as fast as bare Python each is: the median of the rounds' ratios. Then many deployed servers that are all stopped: what waits for them costs, with and without.
// Arguments: rounds (default 7), deployed servers (default 0: without that part), frameworks by name (default all).

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openDatabase } from "@towpath/db";
import { freePort } from "@towpath/role/testing";
import { metricsOf } from "../instance/metrics.ts";
import { childrenOf, databaseUrlOf, launcherOf } from "../instance/processes.ts";
import { instancePorts, startTowpath, towpath } from "../instance/towpath-process.ts";
import { bareEnvironment, dependencyLayers } from "./bare-python.ts";
import { copyProject } from "./copy-project.ts";
import { median, type Series, timed } from "./measure.ts";

const [rounds = "7", servers = "0", ...only] = process.argv.slice(2);
const source = (imported: string, run: string) => `from ${imported} as Server

mcp = Server("Bench")


@mcp.tool()
def word() -> str:
    return "bench"


if __name__ == "__main__":
    import sys

    ${run}
`;
const sdkRun = "import uvicorn; uvicorn.run(mcp.streamable_http_app(), port=int(sys.argv[1]), log_level='error')";
const fastmcp = source(
  "fastmcp import FastMCP",
  "mcp.run(transport='http', host='127.0.0.1', port=int(sys.argv[1]), show_banner=False)",
);
type Kind = { readonly requirement: string; readonly code: string };
const frameworks: Readonly<Record<string, Kind>> = {
  "fastmcp-2": { requirement: "fastmcp>=2,<3", code: fastmcp },
  "fastmcp-3": { requirement: "fastmcp>=3,<4", code: fastmcp },
  "fastmcp-4": { requirement: "fastmcp>=4,<5", code: fastmcp },
  "mcp-1": { requirement: "mcp>=1,<2", code: source("mcp.server.fastmcp import FastMCP", sdkRun) },
  "mcp-2": { requirement: "mcp>=2,<3", code: source("mcp.server import MCPServer", sdkRun) },
};
const unknown = only.filter((name) => !Object.hasOwn(frameworks, name));
if (unknown.length > 0) {
  process.stderr.write(`No framework is called ${unknown.join(", ")}. Known: ${Object.keys(frameworks).join(", ")}.\n`);
  process.exit(2);
}
const leaseMs = 500;
const stopAfterMs = 1500;
const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };

async function post(url: string, message: object, session: Record<string, string>): Promise<Headers> {
  const body = JSON.stringify({ jsonrpc: "2.0", ...message });
  const response = await fetch(url, { method: "POST", headers: { ...headers, ...session }, body });
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status}: ${text}`);
  return response.headers;
}

/** A handshake and a list: servers import more at their first list, so a handshake alone would look faster than it is. */
async function call(url: string): Promise<void> {
  const clientInfo = { name: "bench", version: "1" };
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
  const opened = await post(url, { id: 1, method: "initialize", params }, {});
  const session = { "mcp-session-id": opened.get("mcp-session-id") ?? "" };
  await post(url, { method: "notifications/initialized" }, session);
  await post(url, { id: 2, method: "tools/list" }, session);
}

type Platform = Awaited<ReturnType<typeof open>>;

async function open(share: string) {
  const dataDirectory = await mkdtemp(join(tmpdir(), "towpath-bench-"));
  const instance = await startTowpath(dataDirectory, await instancePorts(), {
    TOWPATH_FREEZE_AFTER_MS: "300",
    TOWPATH_STOP_AFTER_MS: String(stopAfterMs),
    TOWPATH_LEASE_MS: String(leaseMs),
    TOWPATH_PREWARM_SHARE: share,
  });
  return { dataDirectory, instance };
}

async function deploy({ dataDirectory }: Platform, directory: string, name: string): Promise<void> {
  const done = await towpath("deploy", directory, "--name", name, "--public", "--data-dir", dataDirectory);
  if (done.status !== 0) throw new Error(done.stdout + done.stderr);
}

async function metric({ instance }: Platform, name: string): Promise<number> {
  const text = await metricsOf(instance, "runner");
  return Number(new RegExp(`^towpath_prewarm_${name} (\\S+)$`, "m").exec(text)?.[1] ?? 0);
}

/** Bare Python with the same packages, from spawning it to its first answer. */
async function startBare(python: string, directory: string): Promise<number> {
  const port = await freePort();
  const begun = performance.now();
  const env = { PATH: process.env.PATH };
  const child = spawn(python, [join(directory, "server.py"), String(port)], { stdio: "ignore", env });
  const answers = () =>
    call(`http://127.0.0.1:${port}/mcp`).then(
      () => true,
      () => false,
    );
  while (!(await answers())) await sleep(2);
  const took = performance.now() - begun;
  child.kill("SIGKILL");
  await once(child, "close");
  return took;
}

/** Bare Python with the packages of the layer that has just been made. */
async function newEnvironment({ dataDirectory }: Platform, known: Set<string>, name: string): Promise<string> {
  const layer = (await dependencyLayers(dataDirectory)).find((each) => !known.has(each));
  if (layer === undefined) throw new Error("there is no new dependency layer");
  known.add(layer);
  return bareEnvironment(layer, join(dataDirectory, `bare-${name}`));
}

const percentile95 = (values: readonly number[]) =>
  [...values].sort((a, b) => a - b)[Math.ceil(values.length * 0.95) - 1] ?? Number.NaN;

/** The first series is what the others are compared with, round by round. */
function print(title: string, series: readonly Series[]): void {
  const base = series[0]?.values ?? [];
  const line = (...cells: string[]) =>
    process.stdout.write(
      `${cells[0]?.padEnd(44)}${cells
        .slice(1)
        .map((cell) => cell.padStart(12))
        .join("")}\n`,
    );
  process.stdout.write(`\n${title}\n`);
  line("", "median ms", "p95 ms", "runs", "speed");
  for (const { what, values } of series) {
    const speed = median(values.map((value, round) => (base[round] ?? Number.NaN) / value));
    line(
      what,
      median(values).toFixed(0),
      percentile95(values).toFixed(0),
      String(values.length),
      `${speed.toFixed(1)}×`,
    );
  }
}

async function firstCalls(platforms: readonly [Platform, Platform]): Promise<void> {
  const known = new Set<string>();
  for (const [name, { requirement, code }] of Object.entries(frameworks)) {
    if (only.length > 0 && !only.includes(name)) continue;
    const directory = join(await mkdtemp(join(tmpdir(), "towpath-bench-server-")));
    await writeFile(join(directory, "server.py"), code);
    await writeFile(join(directory, "requirements.txt"), `${requirement}\nuvicorn\n`);
    for (const platform of platforms) await deploy(platform, directory, `bench-${name}`);
    const python = await newEnvironment(platforms[0], known, name);
    const urls = platforms.map(({ instance }) => `${instance.serversUrl}/bench-${name}/mcp`);
    const [bare, ordinary, prewarmed]: [number[], number[], number[]] = [[], [], []];
    const hitsBefore = await metric(platforms[1], "hits_total");
    for (let round = 0; round < Number(rounds); round++) {
      await sleep(leaseMs + stopAfterMs + 4000);
      bare.push(await startBare(python, directory));
      ordinary.push(await timed(() => call(urls[0] ?? "")));
      prewarmed.push(await timed(() => call(urls[1] ?? "")));
    }
    const hits = (await metric(platforms[1], "hits_total")) - hitsBefore;
    print(`${name}: handshake and first list of a stopped server`, [
      { what: "bare python server.py", values: bare },
      { what: "ordinary start", values: ordinary },
      { what: `prewarmed (${hits} of ${rounds} found one)`, values: prewarmed },
    ]);
  }
}

type Cost = { count: number; pssBytes: number; cpuTicks: number };

/** Processes of an instance, their CPU in hundredths of a second, and PSS in bytes: the prewarmed interpreters, and all others. */
async function costs({ dataDirectory }: Platform): Promise<{ interpreters: Cost; platform: Cost }> {
  const none = { count: 0, pssBytes: 0, cpuTicks: 0 };
  const total = { interpreters: { ...none }, platform: { ...none } };
  const ofPlatform = new Set(descendantsOf(launcherOf(dataDirectory)));
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number)) {
    const read = (file: string) => readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "");
    const waits = (await read("cmdline")).startsWith("/app/.venv/bin/python\0-m\0towpath_runner\0--prewarm");
    if (waits ? !(await read("mountinfo")).includes(dataDirectory) : !ofPlatform.has(pid)) continue;
    const cost = waits ? total.interpreters : total.platform;
    const fields = (await read("stat")).split(") ")[1]?.split(" ") ?? [];
    cost.count += 1;
    cost.cpuTicks += Number(fields[11]) + Number(fields[12]);
    cost.pssBytes += Number(/^Pss:\s+(\d+)/m.exec(await read("smaps_rollup"))?.[1] ?? 0) * 1024;
  }
  return total;
}

function descendantsOf(pid: number): number[] {
  return [pid, ...childrenOf(pid).flatMap((child) => descendantsOf(child.pid))];
}

async function deployKind(platform: Platform, { requirement, code }: Kind, name: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "towpath-bench-server-"));
  await writeFile(join(directory, "server.py"), code);
  await writeFile(join(directory, "requirements.txt"), `${requirement}\nuvicorn\n`);
  await deploy(platform, directory, name);
}

/** Many servers of every framework, all stopped. */
async function idleServers(platforms: readonly [Platform, Platform], count: number): Promise<void> {
  const rows: string[] = [];
  for (const [what, platform] of [
    ["without", platforms[0]],
    ["with", platforms[1]],
  ] as const) {
    const kinds = Object.entries(frameworks);
    const database = openDatabase(databaseUrlOf(platform.dataDirectory), { maxConnections: 1 });
    for (const [index, [name, kind]] of kinds.entries()) {
      await deployKind(platform, kind, `idle-${name}`);
      for (let at = index; at < count - kinds.length; at += kinds.length) {
        await copyProject(database.pool, `idle-${name}`, `idle-${name}-${at}`);
      }
    }
    await database.close();
    await sleep(leaseMs + stopAfterMs + 30_000);
    const before = await costs(platform);
    await sleep(10_000);
    const after = await costs(platform);
    for (const part of ["platform", "interpreters"] as const) {
      const mebibytes = (after[part].pssBytes / 2 ** 20).toFixed(0);
      const percent = ((after[part].cpuTicks - before[part].cpuTicks) / 10).toFixed(2);
      const cells = [String(after[part].count), mebibytes, percent];
      rows.push(`${what.padEnd(12)}${part.padEnd(14)}${cells.map((cell) => cell.padStart(11)).join("")}`);
    }
  }
  process.stdout.write(
    `\n${count} deployed servers, all stopped\nprewarming  processes of       count    PSS MiB      CPU %\n${rows.join("\n")}\n`,
  );
}

const platforms = [await open("0"), await open("0.1")] as const;
try {
  await firstCalls(platforms);
  if (Number(servers) > 0) await idleServers(platforms, Number(servers));
} finally {
  for (const { instance, dataDirectory } of platforms) {
    await instance.stop();
    await rm(dataDirectory, { recursive: true });
  }
}
