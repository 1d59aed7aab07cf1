import { randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { SandboxError } from "../../port/errors.ts";
import type { OutputSink } from "../../port/execution.ts";
import type { Isolation } from "../../port/host.ts";
import type { InstanceHandle } from "../../port/servers.ts";
import type { IsolationConfig } from "../config.ts";
import type { Engine, Launch } from "../engine.ts";
import { ForkParents } from "../forks/fork-parents.ts";
import { canFork, prewarmOrFork } from "../forks/prewarm-or-fork.ts";
import { type PrewarmLaunch, type PrewarmOutcome, prewarmServer } from "../prewarm/prewarm-server.ts";
import { defaultFloodLimits, type FloodLimits } from "../process/flood.ts";
import { localHost, type ProcessHost } from "../process/host.ts";
import { spawnPlain } from "../process/plain.ts";
import { runToEnd } from "../process/run-to-end.ts";
import type { RunningProcess, Spawner } from "../process/running-process.ts";
import { underOneOwner } from "../process/same-owner.ts";
import { ownerRuns } from "../process/tree.ts";
import { startServer } from "../server/start-server.ts";
import { adoptServers, keepParent, keepServer } from "../shim/adopt.ts";
import { createShim, type ShimConfig } from "../shim/client.ts";
import { type CgroupLayout, findCgroups, readCgroupFacts, sweepCgroups } from "./cgroup-layout.ts";
import { basicChecks, limitChecks, networkChecks, passes } from "./checks.ts";
import { type HostFacts, inspectHost } from "./host.ts";
import { startNetworkProbe } from "./network-probe.ts";
import { exceptionsOf, noNetwork, problemsOf, refusalOf } from "./report.ts";
import { sweepProbes } from "./self-test.ts";
import { enforcedBy } from "./self-test-limits.ts";
import { makeSocketDirectory, sweepSocketDirectories } from "./socket-directory.ts";
import { type SpawnContext, spawnSandboxed } from "./spawn.ts";

export type SandboxEngineConfig = IsolationConfig & {
  /** The platform's directory for short-lived files, with the directories of instances. TOWPATH_RUN_DIR. */
  readonly stateDirectory: string;
  readonly floodLimits?: FloodLimits;
  /** If set, the shim starts everything and servers outlive this process; else they are its children. */
  readonly shim?: Omit<ShimConfig, "directory">;
  /** For tests: describes another host. */
  readonly host?: HostFacts;
  readonly cgroups?: CgroupLayout;
};

/** How long the servers that are left are ended one by one. All of a runner's end has 7 s, see `stopLimits`. */
const closeWithinMs = 1000;

type Prepared = {
  /** The current state: a network that was unavailable at first may work by now. */
  readonly isolation: () => Isolation;
  readonly usesHostPaths: boolean;
  /** Control groups enforce all limits and freeze: limits can be changed, and a waiting process takes no CPU. */
  readonly canPrewarm: boolean;
  /** Null: nothing may run, for the reasons in `isolation`. */
  readonly spawn: Spawner | null;
};

/** Runs commands in bubblewrap on this host, once its self-test has passed. */
export function createSandboxEngine(config: SandboxEngineConfig): Engine {
  const host = config.host ?? inspectHost();
  const running = new Set<RunningProcess>();
  const handles = new Set<InstanceHandle>();
  /** Starts under way, each with a directory to be removed. */
  const starting = new Set<Promise<unknown>>();
  /** The ends of prewarmed interpreters, each with such a directory too. */
  const waiting = new Set<Promise<void>>();
  const shim = config.shim === undefined ? null : createShim({ ...config.shim, directory: config.stateDirectory });
  const processes = shim ?? localHost;
  const floodLimits = config.floodLimits ?? defaultFloodLimits;
  let cgroups: Promise<CgroupLayout> | null = null;
  let prepared: Promise<Prepared> | null = null;
  let closed = false;
  const layout = () => {
    cgroups ??= config.cgroups === undefined ? readCgroupFacts().then(findCgroups) : Promise.resolve(config.cgroups);
    return cgroups;
  };
  const ready = () => {
    prepared ??= layout()
      .then((found) => prepare(config, host, processes, found))
      .catch((error) => {
        prepared = null;
        throw error;
      });
    return prepared;
  };
  const untilClosed = <Result>(start: () => Promise<Result>): Promise<Result> => {
    const started = closed ? Promise.reject(alreadyClosed()) : start();
    starting.add(started);
    return started.finally(() => starting.delete(started));
  };
  const spawner = async (): Promise<Spawner> => {
    const { spawn, isolation } = await ready();
    if (spawn === null) throw new SandboxError("isolation_unavailable", refusalOf(isolation().checks, config.kernel));
    return async (spec, reader) => {
      if (closed) throw alreadyClosed();
      const started = await spawn(spec, reader);
      running.add(started);
      void started.ended.then(() => running.delete(started));
      if (closed) await started.kill();
      return started;
    };
  };
  const know = (
    handle: InstanceHandle,
    { restorable }: RunningProcess,
    { socketDirectory, memo }: Pick<Launch, "socketDirectory" | "memo">,
  ) => {
    if (shim !== null && memo !== undefined) keepServer(shim, handle, { socketDirectory, memo, running: restorable });
    handles.add(handle);
    void handle.exited.then(() => handles.delete(handle));
  };
  const startWaiting = (
    launch: PrewarmLaunch,
    spawn: Spawner,
    earlier?: (to: OutputSink) => void,
  ): Promise<PrewarmOutcome> =>
    untilClosed(async () => {
      const directory = await makeSocketDirectory(launch.socketDirectory, host.root, await processes.owner());
      const prewarmed = await prewarmServer(spawn, directory, launch, floodLimits, earlier);
      if (prewarmed.ok) {
        const { gone } = prewarmed.interpreter;
        waiting.add(gone);
        void gone.then(() => waiting.delete(gone));
      }
      return prewarmed;
    });
  const parents = canFork(host, config.kernel)
    ? new ForkParents({
        start: async (launch) => await startWaiting(launch, await spawner()),
        keep: ({ restorable }, socketDirectory) =>
          shim !== null && keepParent(shim, { socketDirectory, running: restorable }),
      })
    : null;
  const endAll = async () => {
    await Promise.all([...handles].map((handle) => handle.stop(0)));
    await Promise.all([...running].map((each) => each.kill().then(() => each.ended)));
    await Promise.allSettled(starting);
    // Those that became ready meanwhile.
    await Promise.all([...handles].map((handle) => handle.stop(0)));
    await Promise.all(waiting);
  };
  return {
    name: "sandbox",
    selfTest: async () => (await ready()).isolation(),
    usesHostPaths: async () => (await ready()).usesHostPaths,
    run: async (spec, options) => await runToEnd(await spawner(), spec, options),
    async start(launch: Launch, onOutput) {
      const spawn = await spawner();
      return await untilClosed(async () => {
        const directory = await makeSocketDirectory(launch.socketDirectory, host.root, await processes.owner());
        const spawned: RunningProcess[] = [];
        const spawnAndKeep: Spawner = async (sandbox, reader) => {
          const running = await spawn(sandbox, reader);
          spawned.push(running);
          return running;
        };
        const result = await startServer(spawnAndKeep, directory, launch, onOutput, floodLimits);
        const [running] = spawned;
        if (result.ok && running !== undefined) know(result.handle, running, launch);
        return result;
      });
    },
    async prewarm(launch) {
      if (!(await ready()).canPrewarm) return null;
      const spawn = await spawner();
      const { socketDirectory } = launch;
      const outcome = await prewarmOrFork(parents, launch, (from) =>
        startWaiting(launch, from?.spawner(spawn) ?? spawn, from?.copyOutput),
      );
      if (!outcome.ok) return outcome;
      const { interpreter } = outcome;
      return {
        ok: true,
        interpreter: {
          ...interpreter,
          async claim(claimed, onOutput) {
            const result = await interpreter.claim(claimed, onOutput);
            if ("ok" in result && result.ok) know(result.handle, interpreter.running, { ...claimed, socketDirectory });
            return result;
          },
        },
      };
    },
    async adopt(claim) {
      if (shim === null) return [];
      const { stateDirectory } = config;
      const context = { shim, cgroups: await layout(), root: host.root, stateDirectory, floodLimits };
      const adopted = await adoptServers(context, claim);
      for (const { handle } of adopted) {
        handles.add(handle);
        void handle.exited.then(() => handles.delete(handle));
      }
      return adopted;
    },
    async close() {
      closed = true;
      const ended = endAll();
      if (shim === null) return await ended;
      await Promise.race([ended, sleep(closeWithinMs, undefined, { ref: false })]);
      // It ends what is left at once, however many they are.
      await shim.shutDown();
    },
  };
}

const alreadyClosed = () => new SandboxError("setup_failed", "The driver has been closed.");

async function prepare(
  config: SandboxEngineConfig,
  host: HostFacts,
  processes: ProcessHost,
  cgroups: CgroupLayout,
): Promise<Prepared> {
  await mkdir(config.stateDirectory, { recursive: true });
  await Promise.all([sweepCgroups(cgroups, ownerRuns), sweepProbes(config.stateDirectory)]);
  if (host.root) await sweepSocketDirectories(config.stateDirectory, ownerRuns);
  // Differs from the prefix of an earlier runner with the same shim.
  const prefix = randomBytes(4).toString("hex");
  let count = 0;
  const context = (
    internet: SpawnContext["internet"],
    requiredLimits: SpawnContext["requiredLimits"],
  ): SpawnContext => ({
    requiredLimits,
    host,
    kernel: config.kernel,
    processes,
    cgroups,
    internet,
    allowedRanges: config.allowedRanges,
    async nextName() {
      count += 1;
      const own = `${prefix}-${count}`;
      return `${await processes.owner()}.${own}`;
    },
  });
  const spawnWith =
    (internet: SpawnContext["internet"], requiredLimits: SpawnContext["requiredLimits"] = []): Spawner =>
    (spec, reader) =>
      spawnSandboxed(context(internet, requiredLimits), spec, reader);

  const basic = await underOneOwner(processes, () => basicChecks(spawnWith(null), config, host));
  const isolated = basic.every(passes);
  const [network, limits] = await Promise.all([
    startNetworkProbe(() => underOneOwner(processes, () => networkChecks(spawnWith("slirp"), config, host, isolated))),
    isolated ? underOneOwner(processes, () => limitChecks(spawnWith(null), config, cgroups)) : [],
  ]);
  const held = isolated && limits.every(passes);
  // If only the limits are weak, use the sandbox even if the operator allows servers without one.
  const sandboxed = held || (isolated && config.allowUnsandboxed);
  const isolation = (): Isolation => {
    const state = network.state();
    return {
      checks: [...basic, ...state.checks, ...limits],
      isolatedBy: !sandboxed ? "none" : config.kernel === "gvisor" ? "gvisor" : "bubblewrap",
      trusted: held,
      refuses: !sandboxed && !config.allowUnsandboxed,
      exceptions: exceptionsOf(config, { isolated, limits, state }),
      problems: sandboxed
        ? problemsOf(state)
        : config.allowUnsandboxed
          ? []
          : [refusalOf([...basic, ...limits], config.kernel)],
    };
  };
  const spawn: Spawner = async (spec, reader) => {
    const { internet, checks } = spec.network === "internet" ? await network.refreshed() : network.state();
    if (spec.network === "internet" && internet === null)
      throw new SandboxError("network_unavailable", noNetwork(checks));
    return spawnWith(internet, enforcedBy(limits))(spec, reader);
  };
  const canPrewarm = sandboxed && limits.length > 0 && limits.every(({ ok }) => ok);
  if (sandboxed) return { isolation, usesHostPaths: false, canPrewarm, spawn };
  const plain: Spawner = (spec, reader) => spawnPlain(spec, reader, processes);
  return { isolation, usesHostPaths: true, canPrewarm, spawn: config.allowUnsandboxed ? plain : null };
}
