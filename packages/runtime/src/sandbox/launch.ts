import { type ChildProcess, spawn } from "node:child_process";
import { openSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { SandboxError } from "../errors.ts";
import {
  blockDescriptor,
  firstDataDescriptor,
  optionsDescriptor,
  type SandboxCommand,
  statusDescriptor,
} from "./arguments.ts";
import { inheritedDescriptors } from "./descriptors.ts";

/** A sandbox that exists; its command does not run before `release`. */
export type LaunchedSandbox = {
  readonly monitor: ChildProcess;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** First process of the sandbox's process namespace, as the host sees it. */
  readonly firstPid: number;
  release(): void;
};

/**
 * Spawns bubblewrap and waits until its namespaces exist.
 * @throws SandboxError `setup_failed` with what bubblewrap said
 */
export async function launchSandbox(command: SandboxCommand): Promise<LaunchedSandbox> {
  const standard: ("pipe" | "ignore")[] = ["ignore", "pipe", "pipe", "pipe", "pipe", "pipe"];
  const pipes = [...standard, ...command.data.map(() => "pipe" as const)];
  const masked = Math.max(0, ...inheritedDescriptors().map((descriptor) => descriptor + 1 - pipes.length));
  const monitor = spawn(command.file, command.argv, {
    // "ignore" would leave a descriptor above 2 as it is.
    stdio: [...pipes, ...Array<number>(masked).fill(nothing())],
    // bubblewrap itself runs with the platform's rights: nothing may reach it by its environment.
    env: {},
    cwd: "/",
  });
  const { stdout, stderr } = monitor;
  if (stdout === null || stderr === null) throw new SandboxError("setup_failed", "bubblewrap has no output.");
  const pipe = (descriptor: number) => (monitor.stdio as readonly unknown[])[descriptor];
  const status = pipe(statusDescriptor) as Readable;
  const block = quiet(pipe(blockDescriptor) as Writable);
  const failed = firstComplaint(monitor, stderr);
  quiet(pipe(optionsDescriptor) as Writable).end(`${command.options.join("\0")}\0`);
  command.data.forEach((content, index) => {
    quiet(pipe(firstDataDescriptor + index) as Writable).end(content);
  });
  const firstPid = await Promise.race([childPid(status), failed.promise]);
  failed.stopListening();
  return { monitor, stdout, stderr, firstPid, release: () => block.end("1") };
}

let nothingDescriptor: number | null = null;

/** A descriptor of /dev/null, open for the life of the process. */
function nothing(): number {
  nothingDescriptor ??= openSync("/dev/null", "r");
  return nothingDescriptor;
}

/** bubblewrap may end before it has read everything; why it ended is said elsewhere. */
function quiet(stream: Writable): Writable {
  stream.on("error", () => {});
  return stream;
}

/** bubblewrap writes one JSON document a line; the first one names the child. */
function childPid(status: Readable): Promise<number> {
  return new Promise((resolve) => {
    let text = "";
    status.on("error", () => {});
    status.on("data", (chunk: Buffer) => {
      text += chunk.toString("utf8");
      const pid = /"child-pid": (\d+)/.exec(text)?.[1];
      if (pid !== undefined) resolve(Number(pid));
    });
  });
}

function firstComplaint(monitor: ChildProcess, stderr: Readable) {
  const { promise, reject } = Promise.withResolvers<never>();
  const onError = (error: Error) => reject(new SandboxError("setup_failed", error.message, { cause: error }));
  const onClose = (code: number | null) =>
    reject(new SandboxError("setup_failed", `bubblewrap ended with ${code}: ${String(stderr.read() ?? "").trim()}`));
  monitor.once("error", onError);
  monitor.once("exit", onClose);
  return {
    promise,
    stopListening() {
      monitor.off("error", onError);
      monitor.off("exit", onClose);
    },
  };
}
