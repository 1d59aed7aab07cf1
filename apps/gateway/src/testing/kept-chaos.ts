import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { storeApiKey } from "./clients.ts";
import { RawClient } from "./counting-server.ts";
import { type GatewayProcess, startGatewayProcess } from "./gateway-process.ts";
import { type Asked, type Judged, judge, type Kill, readRuns, type Way } from "./kept-judge.ts";
import { type DeployedServer, type Rig, until } from "./rig.ts";

/** How the calls ended, and what was done to them. */
export type KeptChaos = Judged & {
  readonly calls: number;
  /** Calls by the way in which their client made them. */
  readonly ways: Readonly<Record<Way, number>>;
  /** Connections that clients broke, and processes killed. */
  readonly breaks: number;
  readonly gatewayKills: number;
  readonly serverKills: number;
};

const ways = ["key", "task-legacy", "task-modern", "repeat"] as const;

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
 * gateways and the server are killed by SIGKILL, at random times. Each client asks again until it has an end: with its key, or
 * without one with the same id in the same session.
 */
export async function runKeptChaos(rig: Rig, options: Options): Promise<KeptChaos> {
  const directory = await mkdtemp(join(tmpdir(), "tp-kept-chaos-"));
  const deployed = await rig.deploy((_request, response) => response.destroy(), { authMode: "towpath-cloud" });
  const kills: Kill[] = [];
  const onKill = (process: string) => void kills.push({ process, at: Date.now() });
  const server = new PythonServer(rig, deployed, { directory, onKill });
  const gateways = [0, 1].map((at) => new KilledGateway(rig, { directory: join(directory, `gateway-${at}`), onKill }));
  let isOver = false;
  const counts = { breaks: 0, gatewayKills: 0, serverKills: 0 };
  const made: Record<Way, number> = { key: 0, "task-legacy": 0, "task-modern": 0, repeat: 0 };
  try {
    await Promise.all([server.start(), ...gateways.map((gateway) => gateway.start())]);
    // One would reach the limits of a caller, which its retries would spend their attempts on.
    const callers = await Promise.all(Array.from({ length: 10 }, () => storeApiKey(rig, deployed.organizationId)));
    const ends = new Map<string, Asked>();
    const killing = [
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
    await Promise.all(killing);
    return { calls: options.calls, ways: made, ...counts, ...judge(ends, await server.runs(), kills) };

    async function endOf(id: string): Promise<Asked> {
      const way = pick(ways);
      const begunAt = Date.now();
      const asks: { gateway: string; at: number }[] = [];
      const breaks: number[] = [];
      const { bearer } = pick(callers);
      made[way]++;
      const params = { name: "work", arguments: { call: id, seconds: 0.2 + Math.random() * options.maxSeconds } };
      const key: Record<string, string> = way === "repeat" ? {} : { "idempotency-key": id };
      let session: RawClient | null = null;
      let end: string | null = null;
      for (let attempt = 0; attempt < maxAttempts && end === null; attempt++) {
        const signal = new AbortController();
        const isBroken = Math.random() < 0.5 && attempt < 5;
        const leave = () => {
          breaks.push(Date.now());
          signal.abort();
        };
        const timer = isBroken ? setTimeout(leave, Math.random() * options.maxSeconds * 1000) : undefined;
        end = await ask(signal.signal).catch(() => null);
        clearTimeout(timer);
        if (end === null) await sleep(50 + Math.random() * 300);
      }
      counts.breaks += breaks.length;
      return { way, begunAt, asks, breaks, end: end ?? "no end", endedAt: Date.now() };

      /** Null: ask again. */
      async function ask(signal: AbortSignal): Promise<string | null> {
        const { port, name } = pick(gateways);
        const url = new URL(`http://127.0.0.1:${port}/${deployed.label}/mcp`);
        const headers = { ...bearer, ...key, "x-holder": name };
        if (way === "repeat" && session === null) {
          const opened = await RawClient.inSession(url, headers);
          if (!opened.isOpen) return null;
          session = opened;
        }
        asks.push({ gateway: name, at: Date.now() });
        if (session !== null) return endOfRepeat(await session.at(url).with(headers).call(1, params, signal));
        if (way === "key") return endIn(await (await RawClient.inSession(url, headers)).call(1, params, signal));
        const own = { headers, params };
        return way === "task-legacy" ? askLegacy(url, own, signal) : askModern(url, own, signal);
      }
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

type Sent = { readonly headers: Record<string, string>; readonly params: object };

/** Creates the task of 2025-11-25, or finds it by its key, and waits for its result. */
async function askLegacy(url: URL, { headers, params }: Sent, signal: AbortSignal): Promise<string | null> {
  const client = await RawClient.inSession(url, headers, "2025-11-25");
  const created = await client.call(1, { ...params, task: {} }, signal);
  const taskId = /"taskId":"([^"]+)"/.exec(await created.clone().text())?.[1];
  if (taskId === undefined) return endIn(created, true);
  return endIn(await client.send({ id: 2, method: "tasks/result", params: { taskId } }, signal), true);
}

const declaring = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": { extensions: { "io.modelcontextprotocol/tasks": {} } },
};

/** Gets the result of 2026-07-28, or a task, for which it asks until that has ended. */
async function askModern(url: URL, { headers, params }: Sent, signal: AbortSignal): Promise<string | null> {
  const send = (method: string, name: string, own: object) =>
    new RawClient(url, {
      ...{ ...headers, "mcp-protocol-version": "2026-07-28", "mcp-method": method, "mcp-name": name },
    }).send({ id: 1, method, params: { ...own, _meta: declaring } }, signal);
  const called = await send("tools/call", "work", params);
  const text = await called.clone().text();
  const taskId = /"taskId":"([^"]+)"/.exec(text)?.[1];
  // One that has ended without a run, before its client got an id, answers so under its key.
  if (taskId === undefined) return endIn(called, true);
  for (;;) {
    const got = await send("tasks/get", taskId, { taskId });
    if (!/"status":"working"/.test(await got.clone().text())) return endIn(got, true);
    await sleep(1000, undefined, { signal });
  }
}

/** Without a key, a call can be asked for again only in its session, which ends with the server. */
async function endOfRepeat(answer: Response): Promise<string | null> {
  return answer.status === 404 && (await answer.clone().text()).includes("-32001") ? "session lost" : endIn(answer);
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

type Killed = { readonly directory: string; readonly onKill: (process: string) => void };

class KilledGateway {
  readonly #rig: Rig;
  readonly #killed: Killed;
  #process: GatewayProcess | null = null;
  #starts = 0;

  constructor(rig: Rig, killed: Killed) {
    this.#rig = rig;
    this.#killed = killed;
  }

  get port(): number {
    return this.#process?.port ?? 1;
  }

  /** Of this start. */
  get name(): string {
    return `${basename(this.#killed.directory)}.${this.#starts}`;
  }

  async start(): Promise<void> {
    this.#process = await startGatewayProcess(this.#rig, this.#killed.directory, { TOWPATH_GATEWAY_WORKERS: "1" });
    this.#starts++;
  }

  async restart(): Promise<void> {
    this.kill();
    await this.#process?.ended;
    await this.start();
  }

  kill(): void {
    this.#killed.onKill(this.name);
    this.#process?.child.kill("SIGKILL");
  }
}

class PythonServer {
  readonly #rig: Rig;
  readonly #deployed: DeployedServer;
  readonly #killed: Killed;
  readonly #runsFile: string;
  #process: ChildProcess | null = null;
  #starts = 0;

  constructor(rig: Rig, deployed: DeployedServer, killed: Killed) {
    this.#rig = rig;
    this.#deployed = deployed;
    this.#killed = killed;
    this.#runsFile = join(killed.directory, "runs");
  }

  async start(): Promise<void> {
    const path = join(this.#killed.directory, `${this.#starts++}.sock`);
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
    if (pid === undefined) return;
    this.#killed.onKill("server");
    process.kill(-pid, "SIGKILL");
  }

  async runs() {
    return readRuns(await readFile(this.#runsFile, "utf8").catch(() => ""));
  }
}
