// Time for an agent to connect to many servers at once and read their tools, with a client of each era: servers that
// sleep and are answered for, servers that run, and stopped ones that have to start. Arguments: servers (default 50),
// rounds (default 5).
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { openDatabase } from "@towpath/db";
import { databaseUrlOf } from "../instance/processes.ts";
import { putToSleep, runningServers } from "../instance/sleep.ts";
import { instancePorts, startTowpath, towpath } from "../instance/towpath-process.ts";
import { copyProject } from "./copy-project.ts";
import { printTable, timed } from "./measure.ts";

const [servers = "50", rounds = "5"] = process.argv.slice(2);
const code = `from fastmcp import FastMCP

mcp = FastMCP("Bench")


@mcp.tool
def word() -> str:
    return "bench"
`;

const dataDirectory = await mkdtemp(join(tmpdir(), "towpath-bench-"));
const instance = await startTowpath(dataDirectory, await instancePorts());
const { pool, close } = openDatabase(databaseUrlOf(dataDirectory), { maxConnections: 2 });
const names = Array.from({ length: Number(servers) }, (_, at) => `sleeper-${String(at).padStart(3, "0")}`);
const urlOf = (name: string) => new URL(`${instance.serversUrl}/${name}/mcp`);

async function deployFirst(name: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "towpath-bench-server-"));
  await writeFile(join(directory, "server.py"), code);
  await writeFile(join(directory, "requirements.txt"), "fastmcp>=4,<5\n");
  const done = await towpath("deploy", directory, "--name", name, "--public", "--data-dir", dataDirectory);
  if (done.status !== 0) throw new Error(done.stdout + done.stderr);
}

async function connectAndList(name: string, mode: "auto" | "legacy"): Promise<void> {
  const client = new Client({ name: "bench", version: "1" }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(urlOf(name)));
  const { tools } = await client.listTools();
  if (tools.length !== 1) throw new Error(`${name} lists ${tools.length} tools`);
  await client.close();
}

const all = (mode: "auto" | "legacy") => timed(() => Promise.all(names.map((name) => connectAndList(name, mode))));
const running = () => runningServers(dataDirectory, pool).then(({ length }) => length);

try {
  const [first = "", ...others] = names;
  await deployFirst(first);
  for (const name of others) await copyProject(pool, first, name);
  const times = { asleep: [[], []] as number[][], awake: [[], []] as number[][], stopped: [] as number[] };
  const modes = ["auto", "legacy"] as const;
  await putToSleep(dataDirectory, pool, names);
  await new Promise((resolve) => setTimeout(resolve, 2000));
  for (let round = 0; round < Number(rounds); round++) {
    for (const [at, mode] of modes.entries()) times.asleep[at]?.push(await all(mode));
  }
  const started = await running();
  const client = new Client({ name: "bench", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(urlOf(first)));
  const firstCall = await timed(() => client.callTool({ name: "word", arguments: {} }));
  await client.close();
  const afterCall = await running();
  await pool.query("UPDATE project SET sleeping_lists = 'off'");
  await new Promise((resolve) => setTimeout(resolve, 2000));
  times.stopped.push(await all("auto"));
  for (let round = 0; round < Number(rounds); round++) {
    for (const [at, mode] of modes.entries()) times.awake[at]?.push(await all(mode));
  }
  const stillRunning = await running();
  printTable(`${names.length} servers, connected to and listed at once`, [
    { what: "asleep, answered for, 2026-07-28", values: times.asleep[0] ?? [] },
    { what: "asleep, answered for, 2025-11-25", values: times.asleep[1] ?? [] },
    { what: "running, 2026-07-28", values: times.awake[0] ?? [] },
    { what: "running, 2025-11-25", values: times.awake[1] ?? [] },
    { what: "stopped, each has to start", values: times.stopped },
    { what: "first call of one that slept", values: [firstCall] },
  ]);
  process.stdout.write(
    `processes after listing: ${started}, after the first call: ${afterCall}, at the end: ${stillRunning}\n`,
  );
} finally {
  await close();
  await instance.stop();
  await rm(dataDirectory, { recursive: true });
}
