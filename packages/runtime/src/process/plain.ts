import { spawn } from "node:child_process";
import { SandboxError } from "../errors.ts";
import type { Exit, SandboxSpec } from "../port.ts";
import { naturalExit } from "./exit.ts";
import { treeMemoryBytes } from "./memory.ts";
import { readOutput } from "./read-output.ts";
import type { OutputReader, RunningProcess } from "./running-process.ts";
import { isRunning, processTree, signalProcess } from "./tree.ts";

/** Where a path of the sandbox is on the host. The longest matching mount wins. */
export function hostPath(spec: SandboxSpec, path: string): string {
  const mount = [...spec.mounts]
    .sort((a, b) => b.inside.length - a.inside.length)
    .find(({ inside }) => path === inside || path.startsWith(`${inside}/`));
  return mount === undefined ? path : mount.host + path.slice(mount.inside.length);
}

/** Replaces paths of mounts inside a text, for example in `--socket=/run/towpath/mcp.sock` or a search path. */
function translate(spec: SandboxSpec, text: string): string {
  return text
    .split(/([:=])/)
    .map((part) => (part.startsWith("/") ? hostPath(spec, part) : part))
    .join("");
}

/**
 * Starts a command as a plain process of the host: no isolation and no limits. For tests, and for the mode that
 * TOWPATH_ALLOW_UNSANDBOXED names. Paths of mounts are replaced by their paths on the host.
 */
export async function spawnPlain(spec: SandboxSpec, reader: OutputReader): Promise<RunningProcess> {
  const [program, ...rest] = spec.argv.map((part) => translate(spec, part));
  const env = Object.fromEntries(Object.entries(spec.env).map(([name, value]) => [name, translate(spec, value)]));
  const child = spawn(program ?? "", rest, {
    cwd: hostPath(spec, spec.workingDirectory),
    env,
    stdio: ["ignore", "pipe", "pipe"],
    // A process group of its own, so that everything in it can be signaled.
    detached: true,
  });
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", (error) => reject(new SandboxError("setup_failed", error.message, { cause: error })));
  });
  const pid = child.pid ?? 0;
  const over = new Promise<Exit>((resolve) => {
    child.once("exit", (code, signal) => resolve(naturalExit(code, signal)));
  });
  const output = Promise.all([readOutput("stdout", child.stdout, reader), readOutput("stderr", child.stderr, reader)]);
  const signalAll = async (signal: NodeJS.Signals) => {
    for (const each of await processTree(pid)) signalProcess(each, signal);
    signalProcess(-pid, signal);
  };
  const finish = async (): Promise<Exit> => {
    const exit = await over;
    signalProcess(-pid, "SIGKILL");
    await output;
    return exit;
  };
  return {
    ended: finish(),
    isAlive: () => isRunning(pid),
    async terminate() {
      child.kill("SIGTERM");
    },
    kill: () => signalAll("SIGKILL"),
    async freeze() {
      await signalAll("SIGSTOP");
      return true;
    },
    wake: () => signalAll("SIGCONT"),
    memoryBytes: () => treeMemoryBytes(pid),
    limitEvents: async () => ({ outOfMemory: null, refusedProcesses: null, throttledPeriods: null }),
  };
}
