import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Exit } from "../../port/execution.ts";
import type { SandboxSpec } from "../engine.ts";
import { naturalExit } from "./child.ts";
import { type HostedProcess, localHost, type ProcessHost } from "./host.ts";
import { processorUse } from "./processor-use.ts";
import { readOutput } from "./read-output.ts";
import type { OutputReader, RunningProcess } from "./running-process.ts";
import { isRunning, isStopped, processTree, signalProcess, treeMemoryBytes } from "./tree.ts";

/** The host's path for a path of the sandbox, by the longest matching mount. */
function hostPath(spec: SandboxSpec, path: string): string {
  const mount = [...spec.mounts]
    .sort((a, b) => b.inside.length - a.inside.length)
    .find(({ inside }) => path === inside || path.startsWith(`${inside}/`));
  return mount === undefined ? path : mount.host + path.slice(mount.inside.length);
}

/** Replaces paths of mounts inside a text, for example in `--listen=/run/towpath/mcp.sock` or a search path. */
function translate(spec: SandboxSpec, text: string): string {
  return text
    .split(/([:=])/)
    .map((part) => (part.startsWith("/") ? hostPath(spec, part) : part))
    .join("");
}

/**
 * Starts a command as a plain process of the host, without isolation or limits: for tests, and for
 * TOWPATH_ALLOW_UNSANDBOXED. Replaces the paths of mounts with those on the host.
 */
export async function spawnPlain(
  given: SandboxSpec,
  reader: OutputReader,
  host: ProcessHost = localHost,
): Promise<RunningProcess> {
  const made = await Promise.all((given.scratch ?? []).map(() => mkdtemp(join(tmpdir(), "towpath-scratch-"))));
  const scratch = (given.scratch ?? []).map((inside, index) => ({ host: made[index] ?? "", inside, writable: true }));
  const spec = { ...given, mounts: [...given.mounts, ...scratch] };
  const [file = "", ...argv] = spec.argv.map((part) => translate(spec, part));
  const env = Object.fromEntries(Object.entries(spec.env).map(([name, value]) => [name, translate(spec, value)]));
  const cwd = hostPath(spec, spec.workingDirectory);
  const group = `${await host.owner()}.${randomUUID()}`;
  // A process group of its own, so that everything in it can be signaled.
  const command = {
    file,
    argv,
    env,
    cwd,
    stdio: [spec.input === true ? "in" : "ignore", "out", "out"],
    ownGroup: true,
  } as const;
  const running = plainProcess(await host.spawn(command, group), group, reader);
  void running.ended.then(() => Promise.all(made.map((path) => rm(path, { recursive: true, force: true }))));
  return running;
}

/** Controls a plain process that this or an earlier process of the platform started. */
export function plainProcess(hosted: HostedProcess, group: string, reader: OutputReader): RunningProcess {
  const { pid } = hosted;
  const output = readOutput(hosted, reader);
  const signalAll = async (signal: NodeJS.Signals) => {
    if (hosted.hasEnded) return;
    for (const each of await processTree(pid)) signalProcess(each, signal);
    signalProcess(-pid, signal);
  };
  const finish = async (): Promise<Exit> => {
    const end = await hosted.exited;
    signalProcess(-pid, "SIGKILL");
    await output;
    return naturalExit(end);
  };
  return {
    restorable: { kind: "plain", group, pid },
    ended: finish(),
    isAlive: () => isRunning(pid),
    sendInput: (text) => hosted.write(0, text, true),
    limit: async () => false,
    signal: async (signal) => hosted.signal(signal),
    kill: () => signalAll("SIGKILL"),
    isFrozen: () => isStopped(pid),
    async freeze() {
      await signalAll("SIGSTOP");
      return true;
    },
    wake: () => signalAll("SIGCONT"),
    memoryBytes: () => treeMemoryBytes(pid),
    processorUse: () => processorUse(pid),
    limitEvents: async () => ({ outOfMemory: null, refusedProcesses: null, throttledPeriods: null }),
    processUse: async () => null,
  };
}
