import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { type TestContext, test } from "vitest";
import { isThorough } from "../../../../../tests/thorough.ts";
import { shortDirectory } from "../../testing/short-directory.ts";
import type { Command } from "../process/child.ts";
import type { HostedProcess, OutputChunk } from "../process/host.ts";
import { ownerName, ownerRuns } from "../process/tree.ts";
import { createShim, type Shim } from "./client.ts";
import { encodeMessage, frameReader, type Request } from "./frames.ts";

/** A directory of the test's own, and shims in it; all end with the test. */
async function setUp({ onTestFinished }: TestContext) {
  const directory = await shortDirectory();
  const shims: Shim[] = [];
  onTestFinished(async () => {
    for (const shim of shims) await shim.shutDown();
    rmSync(directory, { recursive: true, force: true });
  });
  const shimOf = (generation: number): Shim => {
    const shim = createShim({ directory, generation, waitMs: 30_000, orphanedMs: 0, onSuperseded: () => {} });
    shims.push(shim);
    return shim;
  };
  return { directory, shimOf };
}

const command = (argv: readonly string[]): Command => ({
  file: "/bin/sleep",
  argv,
  env: {},
  cwd: "/",
  stdio: ["ignore", "out", "out"],
});
const start = async (shim: Shim, ...argv: string[]): Promise<HostedProcess> =>
  await shim.spawn(command(argv), `${await shim.owner()}.test`);
const pidOf = (owner: string) => Number(owner.split("-")[0]);

// Side by side: those with a hanging shim wait for as long as one may be silent.
test.concurrent("RUN-8 a command that the kernel refuses fails alone; the shim and its processes continue", async (context) => {
  const { expect } = context;
  const { shimOf } = await setUp(context);
  const shim = shimOf(1);
  const owner = await shim.owner();
  const neighbor = await start(shim, "1000");
  // Longer than one argument may be (MAX_ARG_STRLEN): Node throws E2BIG.
  await expect(start(shim, "1".repeat(200_000))).rejects.toThrow(/could not be started.*E2BIG/);
  await expect(start(shim, "1\0")).rejects.toThrow(/could not be started/);
  await start(shim, "1000");
  expect(await shim.owner()).toBe(owner);
  expect(neighbor.hasEnded).toBe(false);
});

test
  .runIf(isThorough)
  .concurrent("RUN-8 a hanging shim is replaced by the next runner", { timeout: 60_000 }, async (context) => {
    const { expect } = context;
    const { shimOf } = await setUp(context);
    const hung = await shimOf(1).owner();
    process.kill(pidOf(hung), "SIGSTOP");
    const second = shimOf(2);
    expect(await second.owner()).not.toBe(hung);
    expect(await ownerRuns(hung)).toBe(false);
    await start(second, "1000");
  });

test.concurrent("RUN-8 a hanging shim is replaced by its own runner", { timeout: 60_000 }, async (context) => {
  const { expect } = context;
  const { shimOf } = await setUp(context);
  const shim = shimOf(1);
  process.kill(pidOf(await shim.owner()), "SIGSTOP");
  await expect(start(shim, "1000")).rejects.toThrow("has ended");
  await start(shim, "1000");
});

test
  .runIf(isThorough)
  .concurrent("RUN-8 a hanging shim does not outlive the shutdown of its runner", async (context) => {
    const { expect } = context;
    const { shimOf } = await setUp(context);
    const shim = shimOf(1);
    const owner = await shim.owner();
    process.kill(pidOf(owner), "SIGSTOP");
    await shim.shutDown();
    await expect.poll(() => ownerRuns(owner)).toBe(false);
  });

test.concurrent("RUN-5 RUN-8 output continues after the part that a runner has kept, and that the next one knows to be kept", async (context) => {
  const { expect } = context;
  const { shimOf } = await setUp(context);
  const [first, second, third] = [shimOf(1), shimOf(2), shimOf(3)];
  const printing = "for at in 1 2 3 4; do echo line $at; done; exec sleep 1000";
  const printer = { ...command(["-c", printing]), file: "/bin/sh" };
  const hosted = await first.spawn(printer, `${await first.owner()}.printer`);
  const read = (from: HostedProcess) => {
    const chunks: OutputChunk[] = [];
    from.output(1).on("data", (chunk: OutputChunk) => chunks.push(chunk));
    return () => [chunks[0]?.position, Buffer.concat(chunks).toString()];
  };
  const lines = (...numbers: number[]) => numbers.map((number) => `line ${number}\n`).join("");
  await expect.poll(read(hosted)).toEqual([0, lines(1, 2, 3, 4)]);
  hosted.kept(1, lines(1).length);
  // By then the shim has read that.
  await start(first, "1000");
  const resumed = async (shim: Shim, after: Record<number, number>) => {
    const dropped: number[] = [];
    const survivor = (await shim.survivors()).find(({ group }) => group.endsWith(".printer"));
    const main = survivor?.resume(hosted.pid, after, (bytes) => dropped.push(bytes)).main;
    if (!main) throw new Error("it is not there");
    return { seen: read(main), dropped };
  };
  const later = await resumed(second, { 1: lines(1, 2).length });
  await expect.poll(later.seen).toEqual([lines(1, 2).length, lines(3, 4)]);
  const last = await resumed(third, {});
  await expect.poll(last.seen).toEqual([lines(1).length, lines(2, 3, 4)]);
  expect([...later.dropped, ...last.dropped]).toEqual([]);
});

test.concurrent("RUN-8 a shim of another version is shut down and replaced", async (context) => {
  const { expect } = context;
  const { directory, shimOf } = await setUp(context);
  const sleeper = spawn("/bin/sleep", ["1000"], { stdio: "ignore" });
  await once(sleeper, "spawn");
  writeFileSync(`${directory}/shim.sock.owner`, await ownerName(sleeper.pid));
  const asked: string[] = [];
  // Like an earlier version, which names none.
  const old = createServer((socket) => {
    socket.on("error", () => {});
    socket.on(
      "data",
      frameReader<Request>((request) => {
        asked.push(request.type);
        const attached = { type: "attached", owner: "0-0", processes: [], memos: {} } as never;
        if (request.type === "attach") socket.write(encodeMessage(attached));
        if (request.type !== "shutdown") return;
        old.close();
        socket.destroy();
      }),
    );
  });
  await once(old.listen(`${directory}/shim.sock`), "listening");
  const shim = shimOf(2);
  const owner = await shim.owner();
  expect(asked).toEqual(["attach", "shutdown"]);
  expect(readFileSync(`${directory}/shim.sock.owner`, "utf8")).toBe(owner);
  // It ignored the signal to stop.
  await expect.poll(() => sleeper.signalCode).toBe("SIGKILL");
  await start(shim, "1000");
});
