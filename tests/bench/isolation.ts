// What gVisor costs: the same server on two instances, isolated by bubblewrap and by gVisor, by turns in one run. Its build,
// first handshake and list when nothing of it runs, its memory while it waits, its calls, processor time; and how many times
// bubblewrap's each is: the median of the rounds' ratios.
// Arguments: rounds (default 5), seconds of calls in a round (default 5), callers at once (default 4).

import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { instancePorts, startTowpath, towpath } from "../instance/towpath-process.ts";
import { loadText } from "./load.ts";
import { median, requirePrograms, timed } from "./measure.ts";

requirePrograms({ runsc: "runsc" });
const [rounds = 5, seconds = 5, callers = 4] = process.argv.slice(2).map(Number);
const leaseMs = 500;
const stopAfterMs = 1500;
const mebibyte = 2 ** 20;
const code = `from mcp.server.fastmcp import FastMCP

mcp = FastMCP("Bench")


@mcp.tool()
def word() -> str:
    return "bench"
`;
const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };

type Side = Awaited<ReturnType<typeof open>>;

async function open(isolation: "bubblewrap" | "gvisor") {
  const dataDirectory = await mkdtemp(join(tmpdir(), "towpath-bench-"));
  const instance = await startTowpath(dataDirectory, await instancePorts(), {
    TOWPATH_ISOLATION: isolation,
    TOWPATH_STOP_AFTER_MS: String(stopAfterMs),
    TOWPATH_LEASE_MS: String(leaseMs),
    TOWPATH_PREWARM_SHARE: "0",
  });
  return { isolation, dataDirectory, instance, url: `${instance.serversUrl}/bench-server/mcp` };
}

async function deploy({ dataDirectory }: Side, directory: string): Promise<void> {
  const done = await towpath("deploy", directory, "--name", "bench-server", "--public", "--data-dir", dataDirectory);
  if (done.status !== 0) throw new Error(done.stdout + done.stderr);
}

async function post(url: string, message: object, session: Record<string, string>): Promise<Headers> {
  const body = JSON.stringify({ jsonrpc: "2.0", ...message });
  const response = await fetch(url, { method: "POST", headers: { ...headers, ...session }, body });
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status}: ${text}`);
  return response.headers;
}

/** A handshake and a list; resolves to the headers of the session. */
async function begin(url: string): Promise<Record<string, string>> {
  const clientInfo = { name: "bench", version: "1" };
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
  const opened = await post(url, { id: 1, method: "initialize", params }, {});
  const session = { "mcp-session-id": opened.get("mcp-session-id") ?? "" };
  await post(url, { method: "notifications/initialized" }, session);
  await post(url, { id: 2, method: "tools/list" }, session);
  return session;
}

async function callFor({ url }: Side): Promise<{ readonly count: number; readonly tookMs: number }> {
  let count = 0;
  const begun = performance.now();
  const caller = async () => {
    const session = await begin(url);
    while (performance.now() - begun < seconds * 1000) {
      await post(url, { id: 3, method: "tools/call", params: { name: "word", arguments: {} } }, session);
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return { count, tookMs: performance.now() - begun };
}

/** Control groups of the instance's sandboxes, where memory is counted. */
async function groupsOf({ dataDirectory }: Side): Promise<readonly string[]> {
  const owner = await readFile(join(dataDirectory, "run", "shim.sock.owner"), "utf8");
  for (const parent of ["/sys/fs/cgroup/memory/towpath", "/sys/fs/cgroup/towpath"]) {
    const names = (await readdir(parent).catch(() => [])).filter((name) => name.startsWith(`${owner}.`));
    if (names.length > 0) return names.map((name) => `${parent}/${name}`);
  }
  throw new Error("no control group counts the server's memory");
}

const textOf = (path: string) => readFile(path, "utf8").catch(() => "");
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** Without file pages, which the kernel drops when it needs memory. */
async function memoryBytes(side: Side): Promise<number> {
  const used = async (group: string) => {
    const all = Number((await textOf(`${group}/memory.usage_in_bytes`)) || (await textOf(`${group}/memory.current`)));
    const inactive = /^(?:total_)?inactive_file (\d+)$/m.exec(await textOf(`${group}/memory.stat`))?.[1] ?? 0;
    return all - Number(inactive);
  };
  return sum(await Promise.all((await groupsOf(side)).map(used)));
}

const tickMs = 10;

/** Processor time of the processes there and of those that they have waited for, which a busy machine hardly changes. */
async function processorMs(side: Side): Promise<number> {
  const lists = await Promise.all((await groupsOf(side)).map((group) => textOf(`${group}/cgroup.procs`)));
  const each = lists.flatMap((list) => list.split("\n").filter((pid) => pid !== ""));
  const used = async (pid: string) => {
    const fields = (await textOf(`/proc/${pid}/stat`)).split(") ")[1]?.split(" ").slice(11, 15) ?? [];
    return sum(fields.map(Number)) * tickMs;
  };
  return sum(await Promise.all(each.map(used)));
}

type Rows = Map<string, Record<Side["isolation"], number[]>>;

function note(rows: Rows, what: string, { isolation }: Side, value: number): void {
  const row = rows.get(what) ?? { bubblewrap: [], gvisor: [] };
  row[isolation].push(value);
  rows.set(what, row);
}

function print(rows: Rows): void {
  const line = (...cells: string[]) => process.stdout.write(`${cells.map((cell) => cell.padStart(14)).join("")}\n`);
  process.stdout.write(`\nmedians, ${loadText()}\n${"".padEnd(44)}`);
  line("bubblewrap", "gVisor", "ratio", "rounds");
  for (const [what, { bubblewrap, gvisor }] of rows) {
    const ratios = gvisor.map((value, round) => value / (bubblewrap[round] ?? Number.NaN));
    process.stdout.write(what.padEnd(44));
    line(median(bubblewrap).toFixed(1), median(gvisor).toFixed(1), `${median(ratios).toFixed(2)}×`, `${ratios.length}`);
  }
}

const directory = await mkdtemp(join(tmpdir(), "towpath-bench-server-"));
await writeFile(join(directory, "server.py"), code);
await writeFile(join(directory, "requirements.txt"), "mcp>=1,<2\n");
const rows: Rows = new Map();
const sides: Side[] = [];
try {
  for (const isolation of ["bubblewrap", "gvisor"] as const) sides.push(await open(isolation));
  for (const side of sides)
    note(rows, "push to live, packages downloaded, ms", side, await timed(() => deploy(side, directory)));
  for (let round = 0; round < rounds; round++) {
    await sleep(leaseMs + stopAfterMs + 4000);
    // Who comes first finds the rest of its instance asleep.
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
      note(rows, "start from nothing, handshake and list, ms", side, await timed(() => begin(side.url)));
      note(rows, "memory while it waits, MiB", side, (await memoryBytes(side)) / mebibyte);
      const started = await processorMs(side);
      note(rows, "processor time of the start, ms", side, started);
      const { count, tookMs } = await callFor(side);
      note(rows, "calls a second", side, (count * 1000) / tookMs);
      note(rows, "processor time of a call, ms", side, ((await processorMs(side)) - started) / count);
    }
  }
  print(rows);
} finally {
  for (const { instance, dataDirectory } of sides) {
    await instance.stop();
    await rm(dataDirectory, { recursive: true });
  }
  await rm(directory, { recursive: true });
}
