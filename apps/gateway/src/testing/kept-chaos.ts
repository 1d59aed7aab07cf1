import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { storeApiKey } from "./clients.ts";
import { type GatewayProcess, startGatewayProcess } from "./gateway-process.ts";
import { type KeptOptions, makeKeptCalls, pick } from "./kept-callers.ts";
import { type Asked, type Judged, judge, type Kill, readRuns } from "./kept-judge.ts";
import { type DeployedServer, type Rig, until } from "./rig.ts";

/** How the calls ended, and what was done to them. */
export type KeptChaos = Judged & {
  readonly calls: number;
  /** Connections that clients broke, and processes killed. */
  readonly breaks: number;
  readonly gatewayKills: number;
  readonly serverKills: number;
};

type Options = KeptOptions & {
  readonly gatewayKillMs: number;
  readonly serverKillMs: number;
};

const script = new URL("fastmcp/count.py", import.meta.url).pathname;
/**
 * Runs long calls of an unchanged FastMCP server through two gateways, while clients break their connections, and
 * gateways and the server are killed by SIGKILL, at random times.
 */
export async function runKeptChaos(rig: Rig, options: Options): Promise<KeptChaos> {
  const directory = await mkdtemp(join(tmpdir(), "tp-kept-chaos-"));
  const deployed = await rig.deploy((_request, response) => response.destroy(), { authMode: "towpath-cloud" });
  const kills: Kill[] = [];
  const onKill = (process: string) => void kills.push({ process, at: Date.now() });
  const server = new PythonServer(rig, deployed, { directory, onKill });
  const gateways = [0, 1].map((at) => new KilledGateway(rig, { directory: join(directory, `gateway-${at}`), onKill }));
  let isOver = false;
  const counts = { gatewayKills: 0, serverKills: 0 };
  try {
    await Promise.all([server.start(), ...gateways.map((gateway) => gateway.start())]);
    const keys = await Promise.all(Array.from({ length: 10 }, () => storeApiKey(rig, deployed.organizationId)));
    const target = {
      gateways: gateways.map((gateway) => ({
        get name() {
          return gateway.name;
        },
        get url() {
          return new URL(`http://127.0.0.1:${gateway.port}/${deployed.label}/mcp`);
        },
      })),
      callers: keys.map(({ bearer }) => bearer),
    };
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
    await makeKeptCalls(target, options, ends);
    isOver = true;
    await Promise.all(killing);
    const all = [...ends.values()];
    const breaks = all.reduce((sum, { breaks: own }) => sum + own.length, 0);
    return { calls: options.calls, breaks, ...counts, ...judge(ends, await server.runs(), kills) };

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
