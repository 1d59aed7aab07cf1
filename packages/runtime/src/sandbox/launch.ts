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
  /** How bubblewrap ended. */
  readonly exited: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  /** Lets the command run. Throws SandboxError `setup_failed` when bubblewrap has ended already. */
  release(): Promise<void>;
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
  // From the first moment: under load bubblewrap may end before anybody waits for it.
  let hasEnded = false;
  const exited = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    const end = (code: number | null, signal: string | null) => {
      hasEnded = true;
      resolve({ code, signal });
    };
    monitor.once("exit", end);
    monitor.once("error", () => end(null, null));
  });
  quiet(pipe(optionsDescriptor) as Writable).end(`${command.options.join("\0")}\0`);
  command.data.forEach((content, index) => {
    quiet(pipe(firstDataDescriptor + index) as Writable).end(content);
  });
  const firstPid = await Promise.race([childPid(status), exited.then(() => null)]);
  if (firstPid === null) throw await setupFailure(exited, stderr);
  return {
    monitor,
    stdout,
    stderr,
    firstPid,
    exited,
    async release() {
      if (hasEnded) throw await setupFailure(exited, stderr);
      block.end("1");
    },
  };
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

async function setupFailure(exited: LaunchedSandbox["exited"], stderr: Readable): Promise<SandboxError> {
  const { code, signal } = await exited;
  const said = await readBriefly(stderr);
  return new SandboxError("setup_failed", `bubblewrap ended with ${signal ?? code}: ${said || "it said nothing"}`);
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
