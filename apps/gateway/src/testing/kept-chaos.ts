import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { storeApiKey } from "./clients.ts";
import { RawClient } from "./counting-server.ts";
import { type GatewayProcess, startGatewayProcess } from "./gateway-process.ts";
import { type DeployedServer, type Rig, until } from "./rig.ts";

/** How the calls ended, and what the server counted. */
export type KeptChaos = {
  readonly calls: number;
  /** Calls whose client got the result of the one run. */
  readonly fetched: number;
  /** Calls whose client got the answer that nobody knows their end. */
  readonly unknown: number;
  /** Tasks that ended before they were sent, as their client learned. */
  readonly notRun: number;
  /** Calls by the way in which their client made them. */
  readonly ways: Readonly<Record<Way, number>>;
  /** Calls that the server ran twice, and those that got neither a result nor an end. */
  readonly ranTwice: readonly string[];
  readonly unexplained: readonly string[];
  /** Connections that clients broke, and processes killed. */
  readonly breaks: number;
  readonly gatewayKills: number;
  readonly serverKills: number;
};

/** With a key and an open connection, or as a task of either era. */
type Way = "key" | "task-legacy" | "task-modern";
const ways = ["key", "task-legacy", "task-modern"] as const;

type Options = {
  readonly calls: number;
  readonly concurrency: number;
  /** Seconds that a call takes at most. */
  readonly maxSeconds: number;
  readonly gatewayKillMs: number;
  readonly serverKillMs: number;
};

const script = new URL("fastmcp/count.py", import.meta.url).pathname;
/** While the server or a gateway starts on a busy machine, all fail: about two minutes. */
const maxAttempts = 600;

/**
 * Runs long calls of an unchanged FastMCP server through two gateways, while clients break their connections, and
 * gateways and the server are killed by SIGKILL, at random times. Each client asks again with its key until it has an end.
 */
export async function runKeptChaos(rig: Rig, options: Options): Promise<KeptChaos> {
  const directory = await mkdtemp(join(tmpdir(), "tp-kept-chaos-"));
  const deployed = await rig.deploy((_request, response) => response.destroy(), { authMode: "towpath-cloud" });
  const server = new PythonServer(rig, deployed, directory);
  const gateways = [0, 1].map((at) => new KilledGateway(rig, join(directory, `gateway-${at}`)));
  let isOver = false;
  const counts = { breaks: 0, gatewayKills: 0, serverKills: 0 };
  const made: Record<Way, number> = { key: 0, "task-legacy": 0, "task-modern": 0 };
  try {
    await Promise.all([server.start(), ...gateways.map((gateway) => gateway.start())]);
    // One would reach the limits of a caller, which its retries would spend their attempts on.
    const callers = await Promise.all(Array.from({ length: 10 }, () => storeApiKey(rig, deployed.organizationId)));
    const ends = new Map<string, string>();
    const kills = [
      repeatedly(options.gatewayKillMs, async () => {
        counts.gatewayKills++;
        await pick(gateways).restart();
      }),
      repeatedly(options.serverKillMs, async () => {
        counts.serverKills++;
        await server.restart();
      }),
    ];
    const waiting = Array.from({ length: options.calls }, () => randomUUID());
    const work = async () => {
      for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
        ends.set(id, await endOf(id));
      }
    };
    await Promise.all(Array.from({ length: options.concurrency }, work));
    isOver = true;
    await Promise.all(kills);
    return { calls: options.calls, ways: made, ...counts, ...(await server.judge(ends)) };

    async function endOf(id: string): Promise<string> {
      const way = pick(ways);
      const { bearer } = pick(callers);
      made[way]++;
      const params = { name: "work", arguments: { call: id, seconds: 0.2 + Math.random() * options.maxSeconds } };
      for (let attempt = 0; attempt < maxAttempts; attempt++) {
        const signal = new AbortController();
        const breaks = Math.random() < 0.5 && attempt < 5;
        const timer = breaks ? setTimeout(() => signal.abort(), Math.random() * options.maxSeconds * 1000) : undefined;
        const end = await ask({ way, params, headers: { ...bearer, "idempotency-key": id } }, signal.signal).catch(
          () => null,
        );
        clearTimeout(timer);
        if (signal.signal.aborted) counts.breaks++;
        if (end !== null) return end;
        await sleep(50 + Math.random() * 300);
      }
      return "no end";
    }

    /** Null: ask again. */
    async function ask({ way, headers, params }: Asked & { readonly way: Way }, signal: AbortSignal) {
      const url = new URL(`http://127.0.0.1:${pick(gateways).port}/${deployed.label}/mcp`);
      if (way === "key") return endIn(await (await RawClient.inSession(url, headers)).call(1, params, signal));
      return way === "task-legacy"
        ? askLegacy(url, { headers, params }, signal)
        : askModern(url, { headers, params }, signal);
    }
    /** Not before some calls have a result, and while most of them are still to come, however slow the machine is. */
    async function repeatedly(pauseMs: number, kill: () => Promise<void>): Promise<void> {
      while (!isOver && ends.size < options.calls / 4) await sleep(20);
      while (!isOver) {
        await kill();
        for (let left = pauseMs * (0.5 + Math.random()); left > 0 && !isOver; left -= 100) await sleep(100);
      }
    }
  } finally {
    isOver = true;
    server.kill();
    for (const gateway of gateways) gateway.kill();
    await rm(directory, { recursive: true, force: true });
  }
}

type Asked = { readonly headers: Record<string, string>; readonly params: object };

/** Creates the task of 2025-11-25, or finds it by its key, and waits for its result. */
async function askLegacy(url: URL, { headers, params }: Asked, signal: AbortSignal): Promise<string | null> {
  const client = await RawClient.inSession(url, headers, "2025-11-25");
  const created = await (await client.call(1, { ...params, task: {} }, signal)).text();
  const taskId = /"taskId":"([^"]+)"/.exec(created)?.[1];
  if (taskId === undefined) return null;
  return endIn(await client.send({ id: 2, method: "tasks/result", params: { taskId } }, signal), true);
}

const declaring = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": { extensions: { "io.modelcontextprotocol/tasks": {} } },
};

/** Gets the result of 2026-07-28, or a task, for which it asks until that has ended. */
async function askModern(url: URL, { headers, params }: Asked, signal: AbortSignal): Promise<string | null> {
  const send = (method: string, name: string, own: object) =>
    new RawClient(url, {
      ...{ ...headers, "mcp-protocol-version": "2026-07-28", "mcp-method": method, "mcp-name": name },
    }).send({ id: 1, method, params: { ...own, _meta: declaring } }, signal);
  const called = await send("tools/call", "work", params);
  const text = await called.clone().text();
  const taskId = /"taskId":"([^"]+)"/.exec(text)?.[1];
  if (taskId === undefined) return endIn(called);
  for (;;) {
    const got = await send("tasks/get", taskId, { taskId });
    if (!/"status":"working"/.test(await got.clone().text())) return endIn(got, true);
    await sleep(1000, undefined, { signal });
  }
}

/** How a call ended, by what its client got; null: ask again. `isTask`: an error is its end. */
async function endIn(answer: Response, isTask = false): Promise<string | null> {
  const text = await answer.text();
  if (/"towpath":"(?:outcome_unknown)"/.test(text)) return "unknown";
  const done = /done [0-9a-f-]{36}/.exec(text)?.[0];
  // A session, a place or a database that isn't there: nothing was run, or the next answer says what is known.
  if (done === undefined && (answer.status !== 200 || text.includes('"towpath":'))) {
    return isTask && answer.status === 200 ? "not run" : null;
  }
  return done ?? `odd: ${text.slice(0, 200)}`;
}

const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(Math.random() * items.length)] as Item;

class KilledGateway {
  readonly #rig: Rig;
  readonly #directory: string;
  #process: GatewayProcess | null = null;

  constructor(rig: Rig, directory: string) {
    this.#rig = rig;
    this.#directory = directory;
  }

  get port(): number {
    return this.#process?.port ?? 1;
  }

  async start(): Promise<void> {
    this.#process = await startGatewayProcess(this.#rig, this.#directory, { TOWPATH_GATEWAY_WORKERS: "1" });
  }

  async restart(): Promise<void> {
    this.kill();
    await this.#process?.ended;
    await this.start();
  }

  kill(): void {
    this.#process?.child.kill("SIGKILL");
  }
}

class PythonServer {
  readonly #rig: Rig;
  readonly #deployed: DeployedServer;
  readonly #directory: string;
  readonly #runsFile: string;
  #process: ChildProcess | null = null;
  #starts = 0;

  constructor(rig: Rig, deployed: DeployedServer, directory: string) {
    this.#rig = rig;
    this.#deployed = deployed;
    this.#directory = directory;
    this.#runsFile = join(directory, "runs");
  }

  async start(): Promise<void> {
    const path = join(this.#directory, `${this.#starts++}.sock`);
    const python = ["run", "--no-project", "--with", "fastmcp==4.1.2", "python", script, path, this.#runsFile];
    this.#process = spawn("uv", python, {
      stdio: ["ignore", "ignore", "inherit"],
      env: { ...process.env, FASTMCP_HTTP_HOST_ORIGIN_PROTECTION: "false" },
      detached: true,
    });
    await until(() => existsSync(path), 150_000);
    const endpoint = { kind: "unix", path } as const;
    this.#rig.runner.servers.set(this.#deployed.deploymentId, { instanceId: randomUUID(), endpoint });
  }

  async restart(): Promise<void> {
    this.kill();
    await this.start();
  }

  /** uv's child is the server: both are in one process group. */
  kill(): void {
    const pid = this.#process?.pid;
    this.#process = null;
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  }

  /** Compares what clients got with what was run. */
  async judge(ends: ReadonlyMap<string, string>) {
    const runs = new Map<string, number>();
    const text = await readFile(this.#runsFile, "utf8").catch(() => "");
    for (const id of text.split("\n").filter((line) => line !== "")) runs.set(id, (runs.get(id) ?? 0) + 1);
    const of = (kind: (end: string, id: string) => boolean) =>
      [...ends].filter(([id, end]) => kind(end, id)).map(([id, end]) => `${id}: ${end}`);
    const isNotRun = (end: string, id: string) => end === "not run" && !runs.has(id);
    const isResult = (end: string, id: string) => end === `done ${id}` && runs.get(id) === 1;
    return {
      fetched: of(isResult).length,
      unknown: of((end) => end === "unknown").length,
      ranTwice: [...runs].filter(([, count]) => count > 1).map(([id]) => id),
      notRun: of(isNotRun).length,
      unexplained: of((end, id) => end !== "unknown" && !isNotRun(end, id) && !isResult(end, id)),
    };
  }
}
