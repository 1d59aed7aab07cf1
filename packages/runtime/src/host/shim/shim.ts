// The shim: the parent of a runner's sandboxes. It holds their pipes, so that they outlive a runner that is killed, and
// everything ends with it. Arguments: path of its socket, milliseconds for which it waits for a runner, and for which it
// does so without a launcher. It imports next to nothing: one more process with everything that a runner loads would cost
// every instance its memory.
import type { ChildProcess } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { inspect } from "node:util";
import { type Command, pipeOf, spawnChild } from "../process/child.ts";
import { ownerName, ownerRuns } from "../process/tree.ts";
import { sweepSocketDirectories } from "../sandbox/socket-directory.ts";
import {
  commandOf,
  encodeMessage,
  encodeOutput,
  frameReader,
  protocolVersion,
  type Request,
  type Response,
} from "./frames.ts";
import { HeldOutput } from "./held-output.ts";
import { type Hosted, isOver, type Kept, kill, type Output } from "./hosted.ts";
import { Throttle } from "./throttle.ts";

const [socketPath = "", waitMs = "30000", orphanedMs = "0"] = process.argv.slice(2);

const parentCheckMs = 500;
// A runner that reads nothing for this long hangs: servers continue, and their output is held as without a runner.
const congestedMs = 2000;
const forgetAfterMs = 1000;

const hosted = new Map<number, Hosted>();
const kept = new Map<string, Kept>();
let lastNumber = 0;
let runner: Socket | null = null;
let generation = 0;
let supervisor = "";
let isCongested = false;
let isStalled = false;
let stallTimer: NodeJS.Timeout | undefined;
let giveUp: NodeJS.Timeout | undefined;

function send(frame: Buffer): void {
  if (runner === null || runner.write(frame) || isCongested) return;
  isCongested = true;
  if (isStalled) return;
  for (const each of hosted.values()) for (const { pipe } of each.outputs.values()) if (each.taken) pipe.pause();
  clearTimeout(stallTimer);
  stallTimer = setTimeout(() => {
    isStalled = isCongested;
    if (isStalled) for (const each of hosted.values()) for (const { pipe } of each.outputs.values()) pipe.resume();
  }, congestedMs);
}

const sendMessage = (message: Response) => send(encodeMessage(message));

/** The runner reads, or is gone. */
function resumePipes(): void {
  clearTimeout(stallTimer);
  isCongested = false;
  if (isStalled) {
    isStalled = false;
    for (const each of hosted.values()) if (each.taken) sendHeld(each);
    // Congested again by that.
    if (isCongested) return;
  }
  for (const each of hosted.values()) for (const { pipe } of each.outputs.values()) pipe.resume();
}

function sendHeld(each: Hosted): void {
  for (const [descriptor, output] of each.outputs) sendOutput(each, descriptor, output);
}

/** Sends unsent output. It is held until it is kept: a runner may be killed before it has read it. */
function sendOutput(each: Hosted, descriptor: number, output: Output): void {
  const { position, data } = output.held.from(output.sent);
  const dropped = position - output.sent;
  output.sent = output.held.end;
  if (dropped > 0) sendMessage({ type: "dropped", process: each.number, descriptor, bytes: dropped });
  if (data.length > 0) send(encodeOutput(each.number, descriptor, position, data));
}

function onOutput(each: Hosted, descriptor: number, output: Output, chunk: Buffer): void {
  output.held.add(chunk);
  if (each.taken && !isStalled) sendOutput(each, descriptor, output);
  output.throttle.count(chunk.length);
}

function start(call: number, group: string, command: Command): void {
  let child: ChildProcess;
  try {
    child = spawnChild(command);
  } catch (error) {
    // Node throws some failures instead of reporting them: E2BIG, ENOMEM, a NUL in an argument.
    sendMessage({ type: "failed", call, message: error instanceof Error ? error.message : String(error) });
    return;
  }
  if (child.pid === undefined) {
    child.once("error", ({ message }) => sendMessage({ type: "failed", call, message }));
    return;
  }
  child.on("error", () => {});
  lastNumber += 1;
  const each: Hosted = {
    number: lastNumber,
    group,
    ownGroup: command.ownGroup === true,
    child,
    outputs: new Map(),
    end: null,
    taken: runner !== null,
  };
  hosted.set(each.number, each);
  sendMessage({ type: "spawned", call, process: each.number, pid: child.pid });
  command.stdio.forEach((kind, descriptor) => {
    const pipe = kind === "out" ? pipeOf<Readable>(child, descriptor) : undefined;
    if (pipe !== undefined) read(each, descriptor, pipe);
  });
  child.once("exit", (code, signal) => {
    each.end = { code, signal };
    if (each.taken) sendMessage({ type: "exited", process: each.number, code, signal });
    forgetEnded(each);
  });
}

function read(each: Hosted, descriptor: number, pipe: Readable): void {
  const throttle = new Throttle(pipe, () => !isCongested || isStalled);
  const output: Output = { pipe, held: new HeldOutput(), sent: 0, throttle, closed: false };
  each.outputs.set(descriptor, output);
  pipe.on("data", (chunk: Buffer) => onOutput(each, descriptor, output, chunk));
  pipe.on("error", () => {});
  pipe.once("close", () => {
    output.closed = true;
    if (each.taken) {
      sendHeld(each);
      sendMessage({ type: "closed", process: each.number, descriptor });
    }
    forgetEnded(each);
  });
}

/** Forgets a process some time after its exit and output were sent: the runner may be killed before it reads them. */
function forgetEnded(each: Hosted): void {
  if (!isOver(each)) return;
  setTimeout(() => {
    if (!isOver(each)) return;
    hosted.delete(each.number);
    if (![...hosted.values()].some(({ group }) => group === each.group)) kept.delete(each.group);
  }, forgetAfterMs);
}

function take(each: Hosted, after: Readonly<Record<number, number>> = {}): void {
  each.taken = true;
  for (const [descriptor, output] of each.outputs) output.sent = Math.max(output.held.kept, after[descriptor] ?? 0);
  sendHeld(each);
  for (const [descriptor, { closed }] of each.outputs)
    if (closed) sendMessage({ type: "closed", process: each.number, descriptor });
  if (each.end !== null) sendMessage({ type: "exited", process: each.number, ...each.end });
  forgetEnded(each);
}

async function discard(group: string): Promise<void> {
  kept.delete(group);
  for (const each of hosted.values())
    if (each.group === group) {
      take(each);
      await kill(each);
    }
}

async function shutDown(): Promise<void> {
  for (const { atEnd } of kept.values())
    for (const [path, value] of atEnd)
      try {
        writeFileSync(path, value, { flag: "r+" });
      } catch {
        // Gone with what it belonged to.
      }
  await Promise.all([...hosted.values()].map(kill));
  // An attached runner has removed them: without one, nobody else would before the next start.
  await sweepSocketDirectories("", async (by) => by !== owner).catch(() => {});
  process.exit(0);
}

function handle(request: Request): void {
  switch (request.type) {
    case "attach":
      return;
    case "spawn":
      start(request.call, request.group, commandOf(request.command));
      return;
    case "write": {
      const child = hosted.get(request.process)?.child;
      const pipe = child && pipeOf<Writable>(child, request.descriptor);
      if (request.end) pipe?.end(request.text);
      else pipe?.write(request.text);
      return;
    }
    case "signal":
      hosted.get(request.process)?.child.kill(request.signal);
      return;
    case "keep":
      kept.set(request.group, request);
      return;
    case "resume": {
      const each = hosted.get(request.process);
      if (each !== undefined) take(each, request.after);
      return;
    }
    case "kept":
      hosted.get(request.process)?.outputs.get(request.descriptor)?.held.keep(request.position);
      return;
    case "discard":
      void discard(request.group);
      return;
    case "shutdown":
      void shutDown();
  }
}

/** Accepts the newest runner, and rejects one with an older generation. */
function attach(socket: Socket, request: Extract<Request, { type: "attach" }>, owner: string): boolean {
  if (request.generation < generation) return false;
  sendMessage({ type: "superseded" });
  runner?.end();
  clearTimeout(giveUp);
  runner = socket;
  generation = request.generation;
  supervisor = request.parent;
  for (const each of hosted.values()) each.taken = false;
  resumePipes();
  sendMessage({
    type: "attached",
    version: protocolVersion,
    owner,
    processes: [...hosted.values()].map((each) => ({
      process: each.number,
      pid: each.child.pid ?? 0,
      group: each.group,
      outputs: [...each.outputs.keys()],
    })),
    memos: Object.fromEntries([...kept].map(([group, { memo }]) => [group, memo])),
  });
  return true;
}

/** From now on, holds the output and waits for the next runner. */
function onDetached(): void {
  runner = null;
  for (const each of hosted.values()) each.taken = false;
  resumePipes();
  waitForRunner();
}

function waitForRunner(): void {
  clearTimeout(giveUp);
  giveUp = setTimeout(() => void shutDown(), Number(waitMs));
}

function onConnection(socket: Socket, owner: string): void {
  socket.on("error", () => {});
  socket.on("drain", () => socket === runner && resumePipes());
  socket.on("close", () => socket === runner && onDetached());
  socket.on(
    "data",
    frameReader<Request>((request) => {
      if (socket === runner) handle(request);
      else if (request.type !== "attach") socket.destroy();
      else if (!attach(socket, request, owner)) socket.end(encodeMessage({ type: "superseded" }));
    }),
  );
}

// Every server on the host depends on this process: a bug in one call must not end it.
for (const event of ["uncaughtException", "unhandledRejection"] as const)
  process.on(event, (error) => process.stderr.write(`${new Date().toISOString()} ${event}: ${inspect(error)}\n`));
const owner = await ownerName();
// Lets a runner kill a shim that doesn't answer.
writeFileSync(`${socketPath}.owner`, owner, { mode: 0o600 });
const server = createServer((socket) => onConnection(socket, owner));
server.once("error", () => process.exit(1));
const before = process.umask(0o177);
server.listen(socketPath, () => {
  // Only for the socket: child processes get the usual umask.
  process.umask(before);
  chmodSync(socketPath, 0o600);
});
process.on("SIGTERM", () => void shutDown());
for (const signal of ["SIGINT", "SIGHUP", "SIGPIPE"] as const) process.on(signal, () => {});
waitForRunner();
// Without a launcher, only servers that the next runner can adopt are worth a wait, and a shorter one.
let orphanedAt: number | null = null;
setInterval(async () => {
  const isOrphan = runner === null && supervisor !== "" && !(await ownerRuns(supervisor)) && runner === null;
  orphanedAt = isOrphan ? (orphanedAt ?? performance.now()) : null;
  if (orphanedAt !== null && (kept.size === 0 || performance.now() - orphanedAt >= Number(orphanedMs)))
    await shutDown();
}, parentCheckMs);
