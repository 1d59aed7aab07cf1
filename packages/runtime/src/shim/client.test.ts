import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Command } from "../process/child.ts";
import type { HostedProcess } from "../process/host.ts";
import { ownerName, ownerRuns } from "../process/tree.ts";
import { shortDirectory } from "../testing/short-directory.ts";
import { createShim, type Shim } from "./client.ts";
import { encodeMessage, frameReader, type Request } from "./frames.ts";

let directory = "";
const shims: Shim[] = [];

beforeEach(async () => {
  directory = await shortDirectory();
});
afterEach(async () => {
  for (const shim of shims.splice(0)) await shim.shutDown();
  rmSync(directory, { recursive: true, force: true });
});

function shimOf(generation: number): Shim {
  const shim = createShim({ directory, generation, waitMs: 30_000, onSuperseded: () => {} });
  shims.push(shim);
  return shim;
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

test("RUN-8 a command that the kernel refuses fails alone; the shim and its processes continue", async () => {
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

test("RUN-8 a hanging shim is replaced, both by the next runner and by its own", {
  timeout: 60_000,
}, async () => {
  const first = shimOf(1);
  const hung = await first.owner();
  process.kill(pidOf(hung), "SIGSTOP");
  const second = shimOf(2);
  const replaced = await second.owner();
  expect(replaced).not.toBe(hung);
  expect(await ownerRuns(hung)).toBe(false);
  process.kill(pidOf(replaced), "SIGSTOP");
  await expect(start(second, "1000")).rejects.toThrow("has ended");
  await start(second, "1000");
});

test("RUN-8 a hanging shim does not outlive the shutdown of its runner", async () => {
  const shim = shimOf(1);
  const owner = await shim.owner();
  process.kill(pidOf(owner), "SIGSTOP");
  await shim.shutDown();
  await expect.poll(() => ownerRuns(owner)).toBe(false);
});

test("RUN-8 a shim of another version is shut down and replaced", async () => {
  const sleeper = spawn("/bin/sleep", ["1000"], { stdio: "ignore" });
  await once(sleeper, "spawn");
  writeFileSync(`${directory}/shim.sock.owner`, await ownerName(sleeper.pid));
  const asked: string[] = [];
  // As an earlier version does, which names none.
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
  // What did not end when it was told to.
  await expect.poll(() => sleeper.signalCode).toBe("SIGKILL");
  await start(shim, "1000");
});
