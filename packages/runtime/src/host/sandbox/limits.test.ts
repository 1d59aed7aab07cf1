import { readdir, readFile, rm } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isThorough } from "../../../../../tests/thorough.ts";
import { shortDirectory } from "../../testing/short-directory.ts";
import { testLimits } from "../../testing/tiny-server.ts";
import { strictIsolation } from "../config.ts";
import type { SandboxSpec } from "../engine.ts";
import { type CgroupLayout, findCgroups, noCgroups, readCgroupFacts } from "./cgroup-layout.ts";
import { createSandboxEngine, type SandboxEngineConfig } from "./engine.ts";

const root = process.getuid?.() === 0;
let directory = "";

beforeAll(async () => {
  directory = await shortDirectory();
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const command: SandboxSpec = {
  argv: ["/usr/bin/python3", "-c", "import os; print(os.getuid())"],
  env: {},
  workingDirectory: "/tmp",
  mounts: [],
  limits: testLimits,
  network: "none",
};

/** Self-test and one command of a driver on a host with these control groups. */
async function tryHost(cgroups: CgroupLayout, change: Partial<SandboxEngineConfig> = {}) {
  const driver = createSandboxEngine({ ...strictIsolation, stateDirectory: directory, cgroups, ...change });
  const lines: string[] = [];
  const options = { timeoutMs: 10_000, outputBytes: 1000, onOutput: (_: unknown, line: string) => lines.push(line) };
  const isolation = await driver.selfTest();
  const exit = await driver.run(command, options).catch((error: Error) => error);
  await driver.close();
  const limits = isolation.checks.filter((check) => check.name.endsWith(" limit") && check.name !== "disk limit");
  return { isolation, limits: Object.fromEntries(limits.map((check) => [check.name, check.ok])), exit, lines };
}

/** Whether a shim has sandboxes. */
async function groupsOf(owner: string): Promise<boolean> {
  for (const tree of ["memory/", ""])
    for (const name of await readdir(`/sys/fs/cgroup/${tree}towpath`).catch(() => []))
      if (name.startsWith(`${owner}.`)) return true;
  return false;
}

describe.runIf(root)("RUN-1 a host that enforces the limits", () => {
  test("is trusted after exceeding each limit was tried", async () => {
    const { isolation, limits } = await tryHost(await findCgroups(await readCgroupFacts()));
    expect(limits).toEqual({ "memory limit": true, "process limit": true, "cpu limit": true });
    expect(isolation).toMatchObject({ trusted: true, exceptions: [], problems: [] });
  });

  test.runIf(isThorough)("is trusted although the shim was killed while it was tested, more than once", async () => {
    const stateDirectory = join(directory, "killed-shim");
    const shim = { generation: 1, waitMs: 10_000, orphanedMs: 0, onSuperseded: () => {} };
    const cgroups = await findCgroups(await readCgroupFacts());
    const driver = createSandboxEngine({ ...strictIsolation, stateDirectory, cgroups, shim });
    const found = driver.selfTest();
    const killed = new Set<string>();
    while (killed.size < 2) {
      const owner = await readFile(join(stateDirectory, "shim.sock.owner"), "utf8").catch(() => "");
      // Not before a sandbox of the test is there.
      if (owner === "" || killed.has(owner) || !(await groupsOf(owner))) await sleep(1);
      else if (process.kill(Number(owner.split("-")[0]), "SIGKILL")) killed.add(owner);
    }
    expect(await found).toMatchObject({ trusted: true, problems: [] });
    await driver.close();
  });

  test("gives all sandboxes together the weight of one process on each processor", async ({ skip }) => {
    const facts = await readCgroupFacts();
    const { v1 } = await findCgroups(facts);
    if (v1.cpu === null || !facts.membership.includes(":cpu:/\n")) return skip("not in the root group of version 1");
    expect(Number(await readFile(join(v1.cpu, "cpu.shares"), "utf8"))).toBe(1024 * availableParallelism());
  });

  test.each([
    ["memory", { memory: null }],
    ["process", { pids: null }],
    ["cpu", { cpu: null }],
  ])("is not trusted without the %s limit alone", async (name, missing) => {
    const found = await findCgroups(await readCgroupFacts());
    if (found.version !== "v1") return;
    const { isolation, limits } = await tryHost({ ...found, v1: { ...found.v1, ...missing } });
    expect(Object.keys(limits).filter((each) => !limits[each])).toEqual([`${name} limit`]);
    expect(isolation.trusted).toBe(false);
  });
});

describe("RUN-1 a host that cannot enforce the limits", () => {
  test("is not trusted, runs nothing, and says which setting allows it", async () => {
    const { isolation, limits, exit } = await tryHost(noCgroups);
    expect(limits).toEqual({ "memory limit": false, "process limit": false, "cpu limit": false });
    expect(isolation.trusted).toBe(false);
    expect(isolation.problems).toEqual([(exit as Error).message]);
    expect(exit).toMatchObject({
      code: "isolation_unavailable",
      message: expect.stringMatching(/memory, processes and CPU.*systemd-run --user.*TOWPATH_ALLOW_WEAK_LIMITS=yes/),
    });
  });

  test("runs when the operator allows it by name, and the report says so", async () => {
    const { isolation, limits, exit } = await tryHost(noCgroups, { allowWeakLimits: true });
    expect(limits).toEqual({ "memory limit": false, "process limit": false, "cpu limit": false });
    expect(isolation).toMatchObject({
      trusted: true,
      exceptions: [{ setting: "TOWPATH_ALLOW_WEAK_LIMITS=yes", meaning: expect.stringContaining("doesn't enforce") }],
    });
    expect(exit).toMatchObject({ code: 0 });
  });

  test("keeps the sandbox even if the operator allows to run without one", async () => {
    const { isolation, exit, lines } = await tryHost(noCgroups, { allowUnsandboxed: true });
    expect(isolation).toMatchObject({ trusted: false, exceptions: [{ setting: "TOWPATH_ALLOW_UNSANDBOXED=yes" }] });
    expect(exit).toMatchObject({ code: 0 });
    expect(Number(lines[0])).toBeGreaterThan(10_000);
  });
});

test.runIf(root)("RUN-1 too much memory is out-of-memory, not just a signal", async () => {
  const driver = createSandboxEngine({ ...strictIsolation, stateDirectory: directory });
  const argv: [string, ...string[]] = ["/usr/bin/python3", "-c", "x = b'x' * (600 << 20)"];
  const options = { timeoutMs: 20_000, outputBytes: 1000, onOutput: () => {} };
  expect((await driver.run({ ...command, argv }, options)).reason).toBe("out-of-memory");
  await driver.close();
});

test.runIf(root)("RUN-1 data in TCP's buffers is limited, too", async () => {
  const driver = createSandboxEngine({ ...strictIsolation, stateDirectory: directory });
  // Connections over the sandbox's own loopback without a reader: without a limit they hold 375 MB.
  const code = `
import socket
server = socket.create_server(("127.0.0.1", 0), backlog=200)
kept, sent = [], 0
for _ in range(100):
    client = socket.create_connection(server.getsockname()); kept += [client, server.accept()[0]]
    client.setblocking(False)
    try:
        while True: sent += client.send(bytes(1 << 20))
    except BlockingIOError: pass
print(sent >> 20)`;
  const lines: string[] = [];
  const exit = await driver.run(
    { ...command, argv: ["/usr/bin/python3", "-c", code] },
    { timeoutMs: 20_000, outputBytes: 1000, onOutput: (_, line) => lines.push(line) },
  );
  await driver.close();
  // On version 2 the limit on memory counts them: going over it ends the command.
  if (exit.reason !== "out-of-memory") expect(Number(lines[0])).toBeLessThan(testLimits.memoryBytes >> 20);
});
