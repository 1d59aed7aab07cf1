import { setTimeout as sleep } from "node:timers/promises";
import { SandboxError } from "../../port/errors.ts";
import type { Command } from "../process/child.ts";
import { couldNotStart, type HostedProcess, type ProcessHost } from "../process/host.ts";
import { ownerName } from "../process/tree.ts";
import {
  encodeMessage,
  frameReader,
  type ListedProcess,
  protocolVersion,
  type Request,
  type Response,
} from "./frames.ts";
import { RemoteProcess } from "./remote-process.ts";
import { dialOrStart, endTimeoutMs, killOwner, lastOwner } from "./shim-process.ts";

export type ShimConfig = {
  /** Directory of the shim's socket and of its stderr log. */
  readonly directory: string;
  /** Raised at each start of the runner: of two runners, the one with the higher generation has the shim. */
  readonly generation: number;
  /** How long the shim and its servers continue without a runner, milliseconds. */
  readonly waitMs: number;
  /** The same when the runner's supervisor has ended too: nobody but an operator starts the next one. */
  readonly orphanedMs: number;
  /** A newer runner has taken over. This one must exit at once: the processes now belong to the other. */
  readonly onSuperseded: () => void;
};

/** A group that an earlier runner started; `memo` is null if its start had not been completed. */
export type Survivor = {
  readonly group: string;
  readonly memo: string | null;
  /**
   * Takes over its processes: returns the one of that id, null if there is none, and discards the output of the others.
   * Its output continues after these positions, by descriptor; `onDropped` is called with the number of bytes that were
   * lost meanwhile.
   */
  resume(
    pid: number,
    after: Readonly<Record<number, number>>,
    onDropped: (bytes: number) => void,
  ): { readonly main: HostedProcess | null; readonly others: readonly HostedProcess[] };
};

/** A process host whose processes outlive this process: they belong to the shim (shim.ts). */
export type Shim = ProcessHost & {
  /** Marks a group as one that `survivors` of a later runner may take over. See `keep` in frames.ts. */
  keep(group: string, memo: string, atEnd: readonly (readonly [path: string, value: string])[]): void;
  /** The groups that existed when this process attached. Attaches if necessary. */
  survivors(): Promise<readonly Survivor[]>;
  /** Kills what is in a group. */
  discard(group: string): void;
  /** Ends everything in it and the shim itself. Nothing is started afterwards. */
  shutDown(): Promise<void>;
};

/** A shim that doesn't answer for this long hangs: its servers stall as soon as they have filled their pipes. */
const answerTimeoutMs = 10_000;
const attachPauseMs = 50;

export function createShim(config: ShimConfig): Shim {
  let attached: Promise<Connection> | null = null;
  let closed = false;
  const connection = async (): Promise<Connection> => {
    if (closed) throw new SandboxError("setup_failed", "The driver has been closed.");
    attached ??= attachToAny(config).then(
      (made) => {
        void made.gone.then(() => {
          attached = null;
        });
        return made;
      },
      (error) => {
        attached = null;
        throw error;
      },
    );
    return attached;
  };
  return {
    owner: async () => (await connection()).owner,
    spawn: async (command, group) => await (await connection()).spawn(command, group),
    keep: (group, memo, atEnd) => void attached?.then((to) => to.send({ type: "keep", group, memo, atEnd })),
    discard: (group) => void attached?.then((to) => to.send({ type: "discard", group })),
    survivors: async () => (await connection()).survivors(),
    async shutDown() {
      closed = true;
      const made = await attached?.catch(() => null);
      if (made == null) return;
      made.send({ type: "shutdown" });
      await Promise.race([made.gone, sleep(endTimeoutMs, undefined, { ref: false })]);
      await killOwner(made.owner);
      made.close();
    },
  };
}

type Connection = {
  readonly owner: string;
  readonly version: number;
  /** Resolves when the shim has ended, or another runner has taken it over. */
  readonly gone: Promise<void>;
  send(request: Request): void;
  spawn(command: Command, group: string): Promise<HostedProcess>;
  survivors(): readonly Survivor[];
  close(): void;
};

const maxAttachAttempts = 4;

/**
 * Attaches to the shim of this directory. One that hangs or speaks another version is ended, and replaced by a new one.
 */
async function attachToAny(config: ShimConfig): Promise<Connection> {
  for (let attempt = 1; attempt <= maxAttachAttempts; attempt++) {
    const made = await attach(config);
    if (made !== "ended" && made !== "silent" && made.version === protocolVersion) return made;
    if (made === "ended") {
      await sleep(attachPauseMs);
      continue;
    }
    if (made !== "silent") {
      made.send({ type: "shutdown" });
      await Promise.race([made.gone, sleep(endTimeoutMs, undefined, { ref: false })]);
      made.close();
    }
    await killOwner(await lastOwner(config));
  }
  throw new SandboxError("setup_failed", `The shim does not answer. Its output is in ${config.directory}/shim.log.`);
}

/** `silent`: the shim doesn't answer. `ended`: it closed the connection first, e.g. because it was being killed. */
async function attach(config: ShimConfig): Promise<Connection | "silent" | "ended"> {
  const parent = await ownerName(process.ppid);
  const socket = await dialOrStart(config);
  const { promise, resolve, reject } = Promise.withResolvers<Connection | "silent" | "ended">();
  const remotes = new Map<number, RemoteProcess>();
  const calls = new Map<number, (response: Extract<Response, { type: "spawned" | "failed" }>) => void>();
  const send = (request: Request) => void socket.write(encodeMessage(request));
  const gone = new Promise<void>((done) => socket.once("close", () => done()));
  let lastCall = 0;
  let isAttached = false;
  let isSuperseded = false;

  const onMessage = (message: Response) => {
    switch (message.type) {
      case "attached":
        isAttached = true;
        return resolve(made(message));
      case "superseded":
        isSuperseded = true;
        if (isAttached) config.onSuperseded();
        return;
      case "spawned":
      case "failed":
        calls.get(message.call)?.(message);
        return void calls.delete(message.call);
      case "exited": {
        const { code, signal } = message;
        return remotes.get(message.process)?.onExit({ code, signal });
      }
      case "closed":
        return remotes.get(message.process)?.onClosed(message.descriptor);
      case "dropped":
        return remotes.get(message.process)?.onDropped(message.bytes);
    }
  };
  const made = ({ owner, version, processes, memos }: Extract<Response, { type: "attached" }>): Connection => ({
    owner,
    version,
    gone,
    send,
    close: () => void socket.destroy(),
    async spawn(command, group) {
      // The group belongs to a shim that has ended: it would be swept as a leftover.
      if (!group.startsWith(`${owner}.`)) throw lostShim();
      lastCall += 1;
      const call = lastCall;
      const answer = Promise.withResolvers<RemoteProcess>();
      calls.set(call, (response) => {
        if (response.type === "failed") return answer.reject(couldNotStart(command, response.message));
        const outputs = command.stdio.flatMap((each, descriptor) => (each === "out" ? [descriptor] : []));
        const remote = new RemoteProcess({ ...response, outputs }, send);
        remotes.set(response.process, remote);
        void remote.settled.then(() => remotes.delete(response.process));
        answer.resolve(remote);
      });
      void gone.then(() => answer.reject(lostShim()));
      send({ type: "spawn", call, group, command: wireCommand(command) });
      const timer = setTimeout(() => void killOwner(owner), answerTimeoutMs);
      return await answer.promise.finally(() => clearTimeout(timer));
    },
    survivors: () => survivorsOf(processes, memos, remotes, send),
  });

  socket.on(
    "data",
    frameReader<Response>(onMessage, (number, descriptor, chunk) => remotes.get(number)?.onData(descriptor, chunk)),
  );
  void gone.then(() => {
    if (isSuperseded) reject(new SandboxError("setup_failed", "A newer runner has taken over the servers."));
    else resolve("ended");
    // If superseded, they continue under the newer runner.
    if (!isSuperseded) for (const remote of remotes.values()) remote.onShimGone();
  });
  send({ type: "attach", generation: config.generation, parent });
  const timer = setTimeout(() => {
    resolve("silent");
    socket.destroy();
  }, answerTimeoutMs);
  return await promise.finally(() => clearTimeout(timer));
}

const lostShim = () =>
  new SandboxError("platform_ended", "The shim, the parent of all sandboxes, has ended. Try again.");

function survivorsOf(
  processes: readonly ListedProcess[],
  memos: Readonly<Record<string, string>>,
  remotes: Map<number, RemoteProcess>,
  send: (request: Request) => void,
): Survivor[] {
  const groups = Map.groupBy(processes, ({ group }) => group);
  return [...groups].map(([group, members]) => ({
    group,
    memo: memos[group] ?? null,
    resume(pid, after, onDropped) {
      const resumed = members.map((member) => {
        const isMain = member.pid === pid;
        const remote = new RemoteProcess(member, send, isMain ? onDropped : undefined);
        remotes.set(member.process, remote);
        void remote.settled.then(() => remotes.delete(member.process));
        send({ type: "resume", process: member.process, after: isMain ? after : {} });
        if (!isMain) for (const descriptor of member.outputs) remote.output(descriptor).resume();
        return remote;
      });
      const main = resumed.find((each) => each.pid === pid) ?? null;
      return { main, others: resumed.filter((each) => each !== main) };
    },
  }));
}

function wireCommand(command: Command) {
  const stdio = command.stdio.map((each) =>
    typeof each === "string" ? each : { content: Buffer.from(each.content).toString("base64") },
  );
  return { ...command, stdio, ownGroup: command.ownGroup === true };
}
