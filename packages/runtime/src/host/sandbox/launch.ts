import type { Readable } from "node:stream";
import { SandboxError } from "../../port/errors.ts";
import type { Stdio } from "../process/child.ts";
import type { HostedProcess, ProcessHost } from "../process/host.ts";
import { blockDescriptor, firstDataDescriptor, type SandboxCommand, statusDescriptor } from "./arguments.ts";

/** A sandbox whose command waits for `release`. */
export type LaunchedSandbox = {
  /** bubblewrap itself. */
  readonly monitor: HostedProcess;
  /** First process of the sandbox's process namespace, as the host sees it. */
  readonly firstPid: number;
  /** Lets the command run. Throws SandboxError `setup_failed` if bubblewrap has exited already. */
  release(): Promise<void>;
  /** For a fork: its parent, as the host sees it, after `release`. Throws the same. */
  forkPid(): Promise<number>;
};

/**
 * Spawns bubblewrap and waits until its namespaces exist.
 * @throws SandboxError `setup_failed` with bubblewrap's output
 */
export async function launchSandbox(
  command: SandboxCommand,
  processes: ProcessHost,
  group: string,
  hasInput = false,
): Promise<LaunchedSandbox> {
  const options = { content: `${command.options.join("\0")}\0` };
  // Standard streams, then optionsDescriptor, statusDescriptor and blockDescriptor.
  const fixed: Stdio[] = [hasInput ? "in" : "ignore", "out", "out", options, "out", "in"];
  const data = command.data.map((content) => ({ content }));
  if (fixed.length !== firstDataDescriptor) throw new Error("The descriptors do not match those in arguments.ts.");
  const monitor = await processes.spawn(
    {
      file: command.file,
      argv: command.argv,
      stdio: [...fixed, ...data],
      // bubblewrap itself runs with the platform's privileges, so it gets no variables.
      env: {},
      cwd: "/",
    },
    group,
  );
  const status = monitor.output(statusDescriptor);
  const reported = async (pid: Promise<number>) => {
    const found = await Promise.race([pid, monitor.exited.then(() => null)]);
    if (found === null) throw await setupFailure(monitor);
    return found;
  };
  const forkPid = pidOf(status, "fork-pid");
  const firstPid = await reported(pidOf(status, "child-pid"));
  return {
    monitor,
    firstPid,
    async release() {
      if (monitor.hasEnded) throw await setupFailure(monitor);
      monitor.write(blockDescriptor, "1", true);
    },
    forkPid: () => reported(forkPid),
  };
}

/** bubblewrap writes one JSON document per line, as launch.py does; the first contains the child's pid. */
function pidOf(status: Readable, name: "child-pid" | "fork-pid"): Promise<number> {
  const line = new RegExp(`"${name}": (\\d+)`);
  return new Promise((resolve) => {
    let text = "";
    status.on("error", () => {});
    status.on("data", (chunk: Buffer) => {
      text += chunk.toString("utf8");
      const pid = line.exec(text)?.[1];
      if (pid !== undefined) resolve(Number(pid));
    });
  });
}

async function setupFailure(monitor: HostedProcess): Promise<SandboxError> {
  const { code, signal, lostParent } = await monitor.exited;
  if (lostParent) return new SandboxError("platform_ended", "The parent of all sandboxes has ended.");
  const output = await readBriefly(monitor.output(2));
  return new SandboxError(
    "setup_failed",
    `The program that makes sandboxes exited with ${signal ?? code}: ${output || "no output"}`,
  );
}

async function readBriefly(stream: Readable): Promise<string> {
  let text = "";
  stream.on("data", (chunk: Buffer) => {
    text += chunk.toString("utf8");
  });
  await Promise.race([
    new Promise((resolve) => stream.once("close", resolve)),
    new Promise((resolve) => setTimeout(resolve, 500)),
  ]);
  return text.trim().slice(0, 2000);
}
