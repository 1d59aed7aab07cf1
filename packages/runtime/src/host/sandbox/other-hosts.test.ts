import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isThorough } from "../../../../../tests/thorough.ts";
import { shortDirectory } from "../../testing/short-directory.ts";
import { testLimits } from "../../testing/tiny-server.ts";
import type { SandboxSpec } from "../engine.ts";
import { localHost } from "../process/host.ts";
import { runToEnd } from "../process/run-to-end.ts";
import type { RunningProcess } from "../process/running-process.ts";
import { createCgroup } from "./cgroup.ts";
import { type CgroupLayout, findCgroups, noCgroups, readCgroupFacts } from "./cgroup-layout.ts";
import { inspectHost } from "./host.ts";
import { type SpawnContext, spawnSandboxed } from "./spawn.ts";

const root = process.getuid?.() === 0;
let directory = "";
let count = 0;

beforeEach(async () => {
  directory = await shortDirectory();
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const context = (cgroups: CgroupLayout): SpawnContext => ({
  host: inspectHost(),
  kernel: "host",
  processes: localHost,
  cgroups,
  internet: "slirp",
  allowedRanges: [],
  requiredLimits: [],
  async nextName() {
    count += 1;
    return `${await localHost.owner()}.other${count}`;
  },
});

const python = (code: string): SandboxSpec => ({
  argv: ["/usr/bin/python3", "-u", "-c", code],
  env: {},
  workingDirectory: "/tmp",
  mounts: [],
  limits: testLimits,
  network: "none",
});

async function run(cgroups: CgroupLayout, code: string) {
  const lines: string[] = [];
  const exit = await runToEnd((spec, reader) => spawnSandboxed(context(cgroups), spec, reader), python(code), {
    timeoutMs: 10_000,
    outputBytes: 10_000,
    onOutput: (_, line) => lines.push(line),
  });
  return { exit, lines };
}

async function ticking(cgroups: CgroupLayout): Promise<{ running: RunningProcess; ticks: () => number }> {
  let ticks = 0;
  const code = "import time\nwhile True:\n    print(1)\n    time.sleep(0.01)";
  const running = await spawnSandboxed(context(cgroups), python(code), {
    onLine: () => {
      ticks += 1;
    },
  });
  await expect.poll(() => ticks).toBeGreaterThan(2);
  return { running, ticks: () => ticks };
}

async function expectFreezing(cgroups: CgroupLayout): Promise<void> {
  const { running, ticks } = await ticking(cgroups);
  expect(await running.freeze()).toBe(true);
  // Its earlier output may still be in transit.
  await expect
    .poll(async () => {
      const before = ticks();
      await new Promise((resolve) => setTimeout(resolve, 200));
      return ticks() - before;
    })
    .toBe(0);
  const frozenAt = ticks();
  await running.wake();
  await expect.poll(ticks).toBeGreaterThan(frozenAt + 2);
  await running.freeze();
  await running.kill();
  await running.ended;
}

describe("hosts without control groups", () => {
  test("RUN-1 memory is limited for each process, and a time limit still ends everything", async () => {
    const { lines } = await run(
      noCgroups,
      "try:\n    x = b'x' * (600 << 20)\nexcept MemoryError:\n    print('refused')",
    );
    expect(lines).toEqual(["refused"]);
  });

  test("RUN-3 processes are frozen by signals, and frozen ones can be killed", () => expectFreezing(noCgroups));
});

test("RUN-1 a sandbox does not start if a limit that the host enforces cannot be set for it", async () => {
  await writeFile(`${directory}/file`, "");
  // No group can be made below a file: what a full or vanished tree looks like.
  const broken: CgroupLayout = { ...noCgroups, v1: { memory: `${directory}/file`, pids: null, cpu: null } };
  const start = (requiredLimits: SpawnContext["requiredLimits"]) =>
    spawnSandboxed({ ...context(broken), requiredLimits }, python("print(1)"), { onLine: () => {} });
  await expect(start(["memory"])).rejects.toMatchObject({
    code: "setup_failed",
    message: expect.stringContaining("limit on memory could not be set"),
  });
  await (await start([])).ended;
});

describe.runIf(root)("hosts with version 1 only", () => {
  test("RUN-3 processes are frozen by the freezer, and frozen ones can be killed", async () => {
    const found = await findCgroups(await readCgroupFacts());
    if (found.v1Freezer === null) return;
    await expectFreezing({ ...found, v2: null });
  });
});

test.runIf(root)(
  "RUN-1 hosts with version 1: TCP's buffers, which it counts separately, have their own limit",
  async (context) => {
    const found = await findCgroups(await readCgroupFacts());
    if (found.v1.memory === null) return context.skip();
    const limits = { memoryBytes: 64 << 20, processes: 7, cpus: 1, tmpBytes: 1 };
    // Named as this process's own: the sweep of a platform that starts meanwhile would remove anything else.
    const name = `${await localHost.owner()}.tcp`;
    const cgroup = await createCgroup(found, name, limits);
    const file = `${found.v1.memory}/${name}/memory.kmem.tcp.limit_in_bytes`;
    expect(Number(await readFile(file, "utf8"))).toBe(8 << 20);
    await cgroup.remove();
  },
);

test("RUN-1 without root, only the delegated group is used, even if the platform has moved within it", async () => {
  const own = `${directory}/user.slice/towpath.scope`;
  await mkdir(own, { recursive: true });
  const facts = { root: false, mounts: `cgroup2 ${directory} cgroup2 rw 0 0\n` };
  const found = async (path: string) => (await findCgroups({ ...facts, membership: `0::${path}\n` })).v2?.path;
  expect(await found("/user.slice/towpath.scope")).toBeUndefined();
  for (const name of ["cgroup.procs", "cgroup.subtree_control"]) await writeFile(`${own}/${name}`, "");
  expect(await found("/user.slice/towpath.scope")).toBe(`${own}/towpath`);
  expect(await found("/user.slice/towpath.scope/towpath-platform")).toBe(`${own}/towpath`);
  expect(await found("/user.slice")).toBeUndefined();
  expect(await found("/../outside")).toBeUndefined();
});

test("on version 2, limits are written to the kernel's files", async () => {
  const path = `${directory}/towpath`;
  await mkdir(path);
  const layout: CgroupLayout = { ...noCgroups, version: "v2", v2: { path, controllers: ["memory", "pids", "cpu"] } };
  const cgroup = await createCgroup(layout, "one", { memoryBytes: 1000, processes: 7, cpus: 1.5, tmpBytes: 1 });
  const content = (name: string) => readFile(`${path}/one/${name}`, "utf8");
  expect(await content("memory.max")).toBe("1000");
  expect(await content("memory.oom.group")).toBe("1");
  expect(await content("pids.max")).toBe("7");
  expect(await content("cpu.max")).toBe("150000 100000");
  expect(cgroup.limits).toMatchObject({ memory: true, processes: true });
});

test.runIf(isThorough)("many sandboxes with network can start concurrently", async () => {
  const one = () =>
    runToEnd(
      (spec, reader) => spawnSandboxed(context(noCgroups), spec, reader),
      { ...python("print(1)"), network: "internet" },
      { timeoutMs: 20_000, outputBytes: 10_000, onOutput: () => {} },
    );
  const exits = await Promise.all(Array.from({ length: 12 }, one));
  expect(exits.filter((exit) => exit.code !== 0)).toEqual([]);
});
