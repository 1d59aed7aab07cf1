import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { shortDirectory } from "../../testing/short-directory.ts";
import { strictIsolation } from "../config.ts";
import { processTree } from "../process/tree.ts";
import { createSandboxEngine } from "./engine.ts";

const root = process.getuid?.() === 0;
const fixture = new URL("../../testing/platform-process.ts", import.meta.url).pathname;
let parent = "";

beforeAll(async () => {
  parent = await shortDirectory();
});
afterAll(() => rm(parent, { recursive: true, force: true }));

const alive = (pid: number) => {
  try {
    // A zombie has ended; only its parent has not looked yet.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
};

test.each(["running", "frozen"])("RUN-1 kill -9 of the platform leaves no process of a %s server", async (state) => {
  const directory = join(parent, state);
  const platform = spawn(process.execPath, [fixture, directory, state], { stdio: ["ignore", "pipe", "inherit"] });
  await new Promise<void>((resolve, reject) => {
    platform.stdout.on("data", (chunk: Buffer) => chunk.toString().includes("started") && resolve());
    platform.once("exit", (code) => reject(new Error(`the platform process ended with ${code}`)));
  });
  const pid = platform.pid ?? 0;
  const everything = (await processTree(pid)).filter((each) => each !== pid);
  // bubblewrap twice, the server, slirp4netns
  expect(everything.length).toBeGreaterThanOrEqual(4);
  platform.kill("SIGKILL");
  await expect.poll(() => everything.filter(alive)).toEqual([]);

  // The next platform process removes what the kernel keeps: control groups and the mount.
  const driver = createSandboxEngine({
    stateDirectory: directory,
    ...strictIsolation,
  });
  await driver.selfTest();
  expect(readFileSync("/proc/self/mounts", "utf8")).not.toContain(` ${directory}/`);
  if (root)
    for (const tree of ["memory", "unified"])
      expect(groups(tree).filter((name) => name.startsWith(`${pid}-`))).toEqual([]);
  await driver.close();
});

test("RUN-8 a platform that is killed while it tests the host leaves nothing that the next one doesn't remove", async () => {
  const directory = join(parent, "testing");
  const platform = spawn(process.execPath, [fixture, directory], { stdio: ["ignore", "ignore", "inherit"] });
  const probes = () =>
    existsSync(directory) ? readdirSync(directory).filter((name) => name.startsWith("probe-")) : [];
  await expect.poll(probes, { interval: 5, timeout: 20_000 }).not.toEqual([]);
  const ended = once(platform, "exit");
  platform.kill("SIGKILL");
  await ended;
  expect(probes()).not.toEqual([]);
  const driver = createSandboxEngine({ stateDirectory: directory, ...strictIsolation });
  await driver.selfTest();
  await driver.close();
  expect(probes()).toEqual([]);
});

function groups(tree: string): string[] {
  try {
    return readdirSync(`/sys/fs/cgroup/${tree}/towpath`);
  } catch {
    return [];
  }
}
