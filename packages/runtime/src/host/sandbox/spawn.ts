import { createHash, randomInt } from "node:crypto";
import { chown, readFile, stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { SandboxError } from "../../port/errors.ts";
import type { Exit, Limits } from "../../port/execution.ts";
import type { ForkSource, SandboxSpec } from "../engine.ts";
import { forkUsers } from "../forks/enter-users.ts";
import { forkCommand } from "../forks/fork-command.ts";
import { naturalExit } from "../process/child.ts";
import type { HostedProcess, ProcessHost } from "../process/host.ts";
import { processorUse } from "../process/processor-use.ts";
import { readOutput } from "../process/read-output.ts";
import type { OutputReader, Restorable, RunningProcess } from "../process/running-process.ts";
import { childrenOf, isRunning, isStopped, processTree, signalProcess, treeMemoryBytes } from "../process/tree.ts";
import { type Identity, type NetworkPlan, type SandboxPlan, sandboxCommand, statusDescriptor } from "./arguments.ts";
import { type Cgroup, createCgroup, type LimitName, openCgroup } from "./cgroup.ts";
import type { CgroupLayout } from "./cgroup-layout.ts";
import { gvisorLimits } from "./gvisor.ts";
import type { HostFacts } from "./host.ts";
import { type LaunchedSandbox, launchSandbox } from "./launch.ts";
import { connectNetwork, holdNetwork, type NetworkHandle, networkOf } from "./network.ts";

export type SpawnContext = {
  readonly host: HostFacts;
  readonly kernel: SandboxPlan["kernel"];
  /** Starts the processes, as their parent. */
  readonly processes: ProcessHost;
  readonly cgroups: CgroupLayout;
  /** How `internet` is implemented here; null: not available. */
  readonly internet: "slirp" | "host" | null;
  /** Private address ranges that stay reachable. */
  readonly allowedRanges: readonly string[];
  /** Limits that this host enforces according to the self-test: a sandbox is not started if one can't be set for it. */
  readonly requiredLimits: readonly LimitName[];
  /** A new name for a sandbox and its control groups; begins with the owner (see `ownerName`). */
  readonly nextName: () => Promise<string>;
};

/** Starts a command in a new sandbox. Throws SandboxError when any part of the isolation cannot be set up. */
export async function spawnSandboxed(
  context: SpawnContext,
  spec: SandboxSpec,
  reader: OutputReader,
): Promise<RunningProcess> {
  const { host, cgroups, processes } = context;
  const identity = spec.fork === undefined ? sandboxIdentity(host.root, spec.identity) : forkIdentity(spec.fork);
  const internet = networkPlan(context, spec);
  await prepareMounts(spec, host, identity);
  const group = await context.nextName();
  const cgroup = await createCgroup(cgroups, group, hostLimits(context.kernel, spec.limits));
  const networkContext = { host, processes, group, allowedRanges: context.allowedRanges };
  let launched: LaunchedSandbox | null = null;
  let connection: NetworkHandle | null = null;
  let firstPid: number;
  try {
    const missing = context.requiredLimits.filter((name) => !cgroup.limits[name]);
    if (missing.length > 0)
      throw new SandboxError("setup_failed", `The limit on ${missing.join(", ")} could not be set for this sandbox.`);
    const holder = internet === "slirp" && !host.root ? await holdNetwork(networkContext) : null;
    connection = holder;
    const network: NetworkPlan = holder === null ? internet : { heldBy: holder.pid };
    const plan: SandboxPlan = {
      kernel: context.kernel,
      identity,
      network,
      withoutCgroup: { memory: !cgroup.limits.memory, processes: !cgroup.limits.processes },
      hostResolver: network === "host" ? await readFile("/etc/resolv.conf", "utf8") : "",
    };
    const command =
      spec.fork === undefined
        ? sandboxCommand(spec, host, plan)
        : forkCommand(spec, spec.fork, host.architecture, {
            firstUid: sandboxIdentity(true, spec.fork.parent.identity).uid,
            uid: identity.uid,
            members: cgroup.members,
          });
    launched = await launchSandbox(command, processes, group, spec.input);
    await cgroup.add(launched.firstPid);
    if (network === "slirp") connection = await connectNetwork(networkContext, launched.firstPid);
    await launched.release();
    firstPid = spec.fork === undefined ? launched.firstPid : await launched.forkPid();
  } catch (error) {
    const output = launched === null ? "" : await lastOutput(launched);
    await connection?.stop();
    await cgroup.kill();
    await cgroup.remove();
    // If bubblewrap failed at a mount, that is the cause; the network failure is a consequence.
    throw output === "" ? error : new SandboxError("setup_failed", output, { cause: error });
  }
  const { limits, thawFiles: thaw } = cgroup;
  const { kernel } = context;
  const restorable = {
    kind: "sandbox",
    kernel,
    group,
    pid: launched.monitor.pid,
    firstPid,
    limits,
    thaw,
    ...(spec.fork === undefined ? {} : { parent: spec.fork.parent.group }),
  } as const;
  return supervise(restorable, launched.monitor, cgroup, connection, reader);
}

/**
 * Adopts a sandbox that an earlier process of the platform started.
 * @param others the processes that connect it to the network
 */
export async function restoreSandboxed(
  cgroups: CgroupLayout,
  restorable: Extract<Restorable, { kind: "sandbox" }>,
  monitor: HostedProcess,
  others: readonly HostedProcess[],
  reader: OutputReader,
): Promise<RunningProcess> {
  const cgroup = await openCgroup(cgroups, restorable.group, restorable.limits);
  // No longer read, but bubblewrap still writes to it when it exits.
  monitor.output(statusDescriptor).resume();
  return supervise(restorable, monitor, cgroup, networkOf(others), reader);
}

const hostLimits = (kernel: SandboxPlan["kernel"], limits: Limits): Limits =>
  kernel === "gvisor" ? gvisorLimits(limits) : limits;

const lastOutputMs = 2_000;

/** bubblewrap's own error output. Ends it if it still runs. */
async function lastOutput({ monitor, firstPid }: LaunchedSandbox): Promise<string> {
  const stderr = monitor.output(2);
  let text = "";
  stderr.on("data", (chunk: Buffer) => {
    text = (text + chunk.toString("utf8")).slice(-2000);
  });
  const closed = new Promise((resolve) => stderr.once("close", resolve));
  monitor.output(1).resume();
  // Kill the first process separately: until its command runs, it doesn't end with the monitor.
  signalProcess(firstPid, "SIGKILL");
  monitor.signal("SIGKILL");
  await Promise.race([Promise.all([monitor.exited, closed]), sleep(lastOutputMs, undefined, { ref: false })]);
  for (const descriptor of [1, 2]) monitor.output(descriptor).destroy();
  return text.trim();
}

function networkPlan(context: SpawnContext, spec: SandboxSpec): "none" | "slirp" | "host" {
  if (spec.network === "none") return "none";
  if (context.internet !== null) return context.internet;
  throw new SandboxError("network_unavailable", "A sandbox cannot have a network of its own here.");
}

async function prepareMounts(spec: SandboxSpec, host: HostFacts, { uid, gid }: Identity): Promise<void> {
  for (const mount of spec.mounts) {
    try {
      await stat(mount.host);
      if (mount.writable && host.root) await chown(mount.host, uid, gid);
    } catch (error) {
      throw new SandboxError("invalid_spec", `"${mount.host}" cannot be mounted.`, { cause: error });
    }
  }
}

function supervise(
  restorable: Extract<Restorable, { kind: "sandbox" }>,
  monitor: HostedProcess,
  cgroup: Cgroup,
  connection: NetworkHandle | null,
  reader: OutputReader,
): RunningProcess {
  const { firstPid } = restorable;
  const output = readOutput(monitor, reader);
  const finish = async (): Promise<Exit> => {
    const exit = naturalExit(await monitor.exited);
    const { outOfMemory, refusedProcesses } = await cgroup.limitEvents();
    const happened = (count: number | null) => (count ?? 0) > 0 && exit.code !== 0;
    await cgroup.kill();
    await connection?.stop();
    await output;
    await cgroup.remove();
    if (happened(outOfMemory)) return { ...exit, reason: "out-of-memory" };
    // Other kernels refuse the process and nothing else.
    if (restorable.kernel === "gvisor" && happened(refusedProcesses)) return { ...exit, reason: "process-limit" };
    return exit;
  };
  return {
    restorable,
    ended: finish(),
    async isAlive() {
      // The command is the oldest child; its orphans come after it.
      const [command] = await childrenOf(firstPid);
      return command !== undefined && (await isRunning(command));
    },
    sendInput: (text) => monitor.write(0, text, true),
    limit: (limits) => cgroup.limit(hostLimits(restorable.kernel, limits)),
    async signal(signal) {
      // The first process only waits for the command; the command is its child.
      for (const pid of await childrenOf(firstPid)) signalProcess(pid, signal);
    },
    async kill() {
      await cgroup.kill();
      // Without a cgroup, killing the first process ends all others. Kill it separately, because it doesn't end with
      // the monitor before its command runs; and first, while its pid can't have been reused.
      if (!monitor.hasEnded) signalProcess(firstPid, "SIGKILL");
      monitor.signal("SIGKILL");
    },
    isFrozen: async () =>
      cgroup.canFreeze ? await cgroup.isFrozen() : await isStopped((await processTree(firstPid))[1]),
    async freeze() {
      if (cgroup.canFreeze) return await cgroup.freeze();
      for (const pid of (await processTree(firstPid)).slice(1)) signalProcess(pid, "SIGSTOP");
      return true;
    },
    async wake() {
      if (cgroup.canFreeze) return await cgroup.thaw();
      for (const pid of (await processTree(firstPid)).slice(1)) signalProcess(pid, "SIGCONT");
    },
    memoryBytes: async () => (await cgroup.memoryBytes()) ?? (await treeMemoryBytes(firstPid)),
    limitEvents: () => cgroup.limitEvents(),
    processUse: () => cgroup.processUse(),
    processorUse: () => processorUse(firstPid),
  };
}

// systemd's table of user ids leaves 1,879,048,192 to 2,147,483,647 unused: no account, dynamic user or container range
// is in it. Ids needn't be unique to be safe (namespaces separate processes), only unlikely to collide.
const firstUid = 1_879_048_192;
const uidCount = 2 ** 27;

/** The user id inside the sandbox when the platform isn't root; outside, it is the platform's own. */
const unprivilegedUid = 10_001;

/** The user of a fork on the host: one of those that the namespace of its parent's users has. */
function forkIdentity({ parent }: ForkSource): Identity {
  const first = sandboxIdentity(true, parent.identity).uid;
  const uid = first + randomInt(1, forkUsers - 1);
  return { uid, gid: uid };
}

/** The user of a sandbox: derived from its identity, otherwise random. */
function sandboxIdentity(root: boolean, identity: string | undefined): Identity {
  if (!root) return { uid: unprivilegedUid, gid: unprivilegedUid };
  const offset =
    identity === undefined
      ? randomInt(uidCount)
      : createHash("sha256").update(identity).digest().readUInt32BE(0) % uidCount;
  return { uid: firstUid + offset, gid: firstUid + offset };
}
