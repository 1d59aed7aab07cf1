import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, rm } from "node:fs/promises";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { shortDirectory } from "../../testing/short-directory.ts";
import { testLimits, tinyServer } from "../../testing/tiny-server.ts";
import { strictIsolation } from "../config.ts";
import { isRunning, processTree } from "../process/tree.ts";
import { createSandboxEngine } from "./engine.ts";

// With bubblewrap alone: killed-platform.test.ts and shim.test.ts.

async function temporaryDirectory(): Promise<string> {
  const directory = await shortDirectory();
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

type Program = ChildProcessByStdio<Writable, Readable, null>;

/** Starts a program of the tests and resolves once it has printed that line. */
async function started(program: string, args: readonly string[], line: string): Promise<Program> {
  const path = fileURLToPath(new URL(`../../testing/${program}.ts`, import.meta.url));
  const child = spawn(process.execPath, [path, ...args], { stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  await printed(child, line);
  return child;
}

async function obeyed(child: Program, command: string): Promise<void> {
  const done = printed(child, `done ${command}`);
  child.stdin.write(`${command}\n`);
  await done;
}

function printed({ stdout }: Program, line: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = "";
    stdout.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      if (text.split("\n").includes(line)) resolve();
    });
    stdout.once("end", () => reject(new Error(`It ended before it printed ${line}: ${text}`)));
  });
}

test.each(["running", "frozen"])("RUN-1 kill -9 of the platform leaves no process of a %s server", async (state) => {
  const directory = await temporaryDirectory();
  const platform = await started("platform-process", [directory, state, "gvisor"], "started");
  const everything = (await processTree(platform.pid ?? 0)).slice(1);
  // bubblewrap twice, runsc, its two processes, the server, slirp4netns
  expect(everything.length).toBeGreaterThanOrEqual(7);
  platform.kill("SIGKILL");
  await expect.poll(() => Promise.all(everything.map(isRunning))).not.toContain(true);
  // The next one removes what the kernel keeps.
  const next = createSandboxEngine({ ...strictIsolation, kernel: "gvisor", stateDirectory: directory });
  expect(await next.selfTest()).toMatchObject({ isolatedBy: "gvisor", trusted: true });
  expect(await readFile("/proc/self/mounts", "utf8")).not.toContain(` ${directory}/`);
  await next.close();
});

test.each(["running", "frozen"])(
  "RUN-8 a %s server outlives a killed runner, and the next one takes it over",
  async (state) => {
    const directory = await temporaryDirectory();
    const runner = await started("runner-process", [directory, "1", "30000", "0", "gvisor"], "ready");
    await obeyed(runner, "start one");
    if (state === "frozen") await obeyed(runner, "freeze one");
    runner.kill("SIGKILL");
    await once(runner, "exit");
    const shim = { generation: 2, waitMs: 30_000, orphanedMs: 0, onSuperseded: () => {} };
    const next = createSandboxEngine({ ...strictIsolation, kernel: "gvisor", stateDirectory: directory, shim });
    try {
      const [adopted] = await next.adopt(async () => ({ onOutput: () => {}, last: {} }));
      if (adopted === undefined) throw new Error("no server was adopted");
      expect(adopted.isFrozen).toBe(state === "frozen");
      await adopted.handle.wake();
      expect(await tinyServer.get(adopted.handle.endpoint)).toMatch(/^hello/);
      expect((await adopted.handle.stop(2000)).reason).toBe("stopped");
    } finally {
      await next.close();
    }
  },
);

test.each([
  ["/fork-bomb", "process-limit"],
  ["/allocate/1024", "out-of-memory"],
])("RUN-1 a server that goes over its limit by %s ends with the reason %s", async (path, reason) => {
  const stateDirectory = await temporaryDirectory();
  const engine = createSandboxEngine({ ...strictIsolation, kernel: "gvisor", stateDirectory });
  try {
    // So that the processes of the fork bomb don't take all memory first.
    const limits = { ...testLimits, memoryBytes: 1024 ** 3 };
    const result = await engine.start(tinyServer.launch("serve", `${stateDirectory}/i`, { limits }), () => {});
    if (!result.ok) throw new Error(`did not start: ${result.cause}`);
    void tinyServer.get(result.handle.endpoint, path);
    expect((await result.handle.exited).reason).toBe(reason);
  } finally {
    await engine.close();
  }
});
