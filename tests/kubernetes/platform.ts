import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { join } from "node:path";
import { freePorts } from "@towpath/role/testing";
import { createRunnerClient, type RunnerClient, runnerAddressFrom } from "@towpath/runner-api";
import { repositoryRoot, towpathWith } from "../instance/towpath-process.ts";
import { until } from "./processes.ts";

type Runner = "runner-1" | "runner-2";
export type Name = "web-1" | "web-2" | "gateway-1" | "gateway-2" | "worker-1" | "worker-2" | Runner;

export type Platform = {
  /** Base URLs of the gateways. */
  readonly gateways: readonly [string, string];
  readonly runner: RunnerClient;
  /** Starts a process; resolves once it is ready, except for worker and runner. `isReady: false`: at once. */
  start(name: Name, options?: { readonly isReady?: false }): Promise<void>;
  /** The status of a process's health; 0 while it doesn't answer. */
  health(name: Name): Promise<number>;
  /** Resolves once it has ended; `signal`: SIGKILL by default. */
  kill(name: Name, signal?: NodeJS.Signals): Promise<void>;
  /** Directory of a process's data, which a pod would lose with itself. */
  dataOf(name: Name): string;
  /** Runs a command of the terminal against this instance. @throws Error with its output */
  terminal(...args: readonly string[]): Promise<string>;
  /** What a process has printed. */
  log(name: Name): Promise<string>;
  /** Processes that ended by themselves, in order; each was started again a second later, as a kubelet does. */
  readonly ended: readonly Name[];
  stop(): Promise<void>;
};

/**
 * Prepares an instance whose processes share only a database, a bucket and a secret, as those of a cluster do; starts
 * none of them.
 *
 * @param settings of all processes
 */
export async function openPlatform(directory: string, settings: Readonly<Record<string, string>>): Promise<Platform> {
  const [web = 0, oneWeb = 0, otherWeb = 0, one = 0, other = 0, service = 0, first = 0, second = 0] =
    await freePorts(8);
  const gateways = [`http://localhost:${one}`, `http://localhost:${other}`] as const;
  const operatorToken = randomBytes(24).toString("hex");
  const common = {
    ...process.env,
    NODE_ENV: "production",
    TOWPATH_SECRET: randomBytes(24).toString("hex"),
    TOWPATH_URL: `http://localhost:${web}`,
    TOWPATH_SERVER_URL: `${gateways[0]}/{name}`,
    TOWPATH_RUNNER_ADDRESS: `127.0.0.1:${service}`,
    ...settings,
  };
  const own: Readonly<Record<Name, Readonly<Record<string, string>>>> = {
    "web-1": { TOWPATH_PORT: String(oneWeb), TOWPATH_OPERATOR_TOKEN: operatorToken },
    "web-2": { TOWPATH_PORT: String(otherWeb), TOWPATH_OPERATOR_TOKEN: operatorToken },
    "gateway-1": { TOWPATH_GATEWAY_PORT: String(one), TOWPATH_GATEWAY_WORKERS: "1" },
    "gateway-2": { TOWPATH_GATEWAY_PORT: String(other), TOWPATH_GATEWAY_WORKERS: "1" },
    "worker-1": {},
    "worker-2": {},
    "runner-1": { TOWPATH_RUNNER_LISTEN: `127.0.0.1:${first}` },
    "runner-2": { TOWPATH_RUNNER_LISTEN: `127.0.0.1:${second}` },
  };
  const healthOf: Partial<Record<Name, string>> = {
    "web-1": `http://localhost:${oneWeb}/healthz`,
    "web-2": `http://localhost:${otherWeb}/healthz`,
    "gateway-1": `${gateways[0]}/-/healthz`,
    "gateway-2": `${gateways[1]}/-/healthz`,
    "runner-1": `http://127.0.0.1:${first}/healthz`,
    "runner-2": `http://127.0.0.1:${second}/healthz`,
  };
  const children = new Map<Name, ChildProcess>();
  const ended: Name[] = [];
  const services = await Promise.all([serviceOf(web, [oneWeb, otherWeb]), serviceOf(service, [first, second])]);
  const address = runnerAddressFrom({
    TOWPATH_RUNNER_ADDRESS: { host: "127.0.0.1", port: service },
    TOWPATH_RUN_DIR: directory,
    TOWPATH_SECRET: common.TOWPATH_SECRET,
  });
  const runner = createRunnerClient(address, { timeoutMs: 60_000 });
  const logOf = (name: Name) => join(directory, `${name}.log`);
  const end = async (name: Name, signal: NodeJS.Signals) => {
    const child = children.get(name);
    children.delete(name);
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill(signal);
    await exited;
  };
  return {
    gateways,
    runner,
    ended,
    async start(name, options = {}) {
      const data = join(directory, name);
      await mkdir(data, { recursive: true });
      const env = { ...common, ...own[name], TOWPATH_DATA_DIR: data, TOWPATH_RUN_DIR: join(data, "run") };
      const role = name.replace(/-\d$/, "");
      const launch = () => {
        const log = openSync(logOf(name), "a");
        // `run` becomes the process.
        const child = spawn(join(repositoryRoot, "towpath"), ["run", role], { env, stdio: ["ignore", log, log] });
        closeSync(log);
        children.set(name, child);
        const isCurrent = () => children.get(name) === child;
        child.once("exit", () => {
          if (!isCurrent()) return;
          ended.push(name);
          setTimeout(() => isCurrent() && launch(), 1000);
        });
        return child;
      };
      const child = launch();
      const health = healthOf[name];
      if (health === undefined || role === "runner" || options.isReady === false) return;
      const problem = async () =>
        child.exitCode === null ? null : `${name} has ended:\n${(await readFile(logOf(name), "utf8")).slice(-4000)}`;
      // Web is built at first.
      await until(name, async () => (await fetch(health)).status === 200, { ended: problem }, 400_000);
    },
    async health(name) {
      const limit = { signal: AbortSignal.timeout(2000) };
      return await fetch(healthOf[name] ?? "", limit).then(
        ({ status }) => status,
        () => 0,
      );
    },
    kill: (name, signal = "SIGKILL") => end(name, signal),
    dataOf: (name) => join(directory, name),
    async terminal(...args) {
      const env = { TOWPATH_URL: common.TOWPATH_URL, TOWPATH_API_KEY: operatorToken };
      const { status, stdout, stderr } = await towpathWith({ env: { ...env, XDG_CONFIG_HOME: directory } }, ...args);
      if (status !== 0) throw new Error(`towpath ${args.join(" ")} ended with status ${status}:\n${stdout}${stderr}`);
      return stdout + stderr;
    },
    log: (name) => readFile(logOf(name), "utf8"),
    async stop() {
      await runner.close();
      for (const name of [...children.keys()].toReversed())
        await end(name, name.startsWith("runner") ? "SIGINT" : "SIGTERM");
      for (const each of services) each.close();
    },
  };
}

/** Passes connections on to a web that is ready, or to the runner that leads, as the chart's Services do. */
async function serviceOf(port: number, targets: readonly number[]): Promise<Server> {
  const dial = async (target: number) => {
    const health = await fetch(`http://127.0.0.1:${target}/healthz`);
    const { status } = (await health.json().catch(() => ({}))) as { status?: string };
    if (!health.ok || status === "waiting") throw new Error("It is not ready, or does not lead.");
    const socket = connect(target, "127.0.0.1");
    await once(socket, "connect");
    return socket;
  };
  const server = createServer((client) => {
    client.on("error", () => client.destroy());
    Promise.any(targets.map(dial)).then(
      (target) => {
        target.on("error", () => client.destroy()).on("close", () => client.destroy());
        client.on("close", () => target.destroy());
        client.pipe(target).pipe(client);
      },
      () => client.resetAndDestroy(),
    );
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return server;
}
