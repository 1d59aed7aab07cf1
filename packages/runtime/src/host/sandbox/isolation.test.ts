import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isolationContract } from "../../testing/isolation-contract.ts";
import { shortDirectory } from "../../testing/short-directory.ts";
import { testLimits } from "../../testing/tiny-server.ts";
import { strictIsolation } from "../config.ts";
import type { Engine, SandboxSpec } from "../engine.ts";
import { spawnPlain } from "../process/plain.ts";
import { createSandboxEngine } from "./engine.ts";
import { inspectHost } from "./host.ts";
import { probeIsolation } from "./self-test.ts";

isolationContract("host", { visibleProcesses: "[1, 2]", withoutItsSocket: /^hello/ });

const root = process.getuid?.() === 0;
const config = strictIsolation;
let stateDirectory = "";
let driver: Engine;

beforeAll(async () => {
  stateDirectory = await shortDirectory();
  driver = createSandboxEngine({ ...config, stateDirectory: stateDirectory });
});
afterAll(async () => {
  await driver.close();
  await rm(stateDirectory, { recursive: true, force: true });
});

async function python(code: string, change: Partial<SandboxSpec> = {}): Promise<string[]> {
  const lines: string[] = [];
  await driver.run(
    {
      argv: ["/usr/bin/python3", "-c", code],
      env: {},
      workingDirectory: "/tmp",
      mounts: [],
      limits: testLimits,
      network: "none",
      ...change,
    },
    { timeoutMs: 20_000, outputBytes: 100_000, onOutput: (_, line) => lines.push(line) },
  );
  return lines;
}

describe("RUN-1 isolation, tried from inside", () => {
  test("the self-test detects missing isolation", async () => {
    const checks = await probeIsolation((spec, reader) => spawnPlain(spec, reader), stateDirectory, "none");
    const failed = checks.filter((check) => !check.ok).map((check) => check.name);
    expect(failed).toEqual(expect.arrayContaining(["no host processes", "no host sockets"]));
    if (root) expect(failed).toEqual(expect.arrayContaining(["unprivileged user", "no capabilities", "no host files"]));
  });

  test("nothing of the host's /sys is visible", async () => {
    expect(await python("import os; print(os.path.exists('/sys'))")).toEqual(["False"]);
  });

  test("threads are limited", async () => {
    const lines = await python(`
import os, threading, time
started = 0
try:
    for _ in range(200):
        threading.Thread(target=time.sleep, args=(2,), daemon=True).start(); started += 1
except RuntimeError:
    pass
print(0 < started < 40)`);
    expect(lines).toEqual(["True"]);
  });
});

test.runIf(root)("RUN-2 the network of a sandbox unmounts nothing that this host shares with namespaces", async () => {
  const shared = join(stateDirectory, "shared");
  execFileSync("mkdir", ["-p", `${shared}/inner`]);
  execFileSync("mount", ["--bind", shared, shared]);
  execFileSync("mount", ["--make-shared", shared]);
  execFileSync("mount", ["-t", "tmpfs", "tmpfs", `${shared}/inner`]);
  try {
    await python("pass", { network: "internet" });
    expect(readFileSync("/proc/self/mounts", "utf8")).toContain(`${shared}/inner `);
  } finally {
    execFileSync("umount", ["--recursive", shared]);
  }
});

describe("RUN-1 failing closed", () => {
  const noBubblewrap = { ...inspectHost(), tools: { ...inspectHost().tools, bwrap: null } };
  const command = {
    argv: ["/usr/bin/id"] as [string],
    env: {},
    workingDirectory: "/tmp",
    mounts: [],
    limits: testLimits,
  };
  const options = { timeoutMs: 5000, outputBytes: 1000, onOutput: () => {} };

  test("without bubblewrap nothing runs, and the report says what to install", async () => {
    const closed = createSandboxEngine({ ...config, stateDirectory: stateDirectory, host: noBubblewrap });
    await expect(closed.run({ ...command, network: "none" }, options)).rejects.toMatchObject({
      code: "isolation_unavailable",
      message: expect.stringContaining("apt-get install bubblewrap"),
    });
    expect((await closed.selfTest()).trusted).toBe(false);
  });

  test("if allowed by name, it runs, and the report still says that nothing is isolated", async () => {
    const open = createSandboxEngine({
      ...config,
      allowUnsandboxed: true,
      stateDirectory: stateDirectory,
      host: noBubblewrap,
    });
    expect(await open.run({ ...command, network: "none" }, options)).toMatchObject({ reason: "exited", code: 0 });
    expect((await open.selfTest()).trusted).toBe(false);
  });

  test("without slirp4netns a sandbox with network is refused, and TOWPATH_ALLOW_HOST_NETWORK allows the host's", async () => {
    const host = { ...inspectHost(), tools: { ...inspectHost().tools, slirp4netns: null } };
    const closed = createSandboxEngine({ ...config, stateDirectory: stateDirectory, host });
    await expect(closed.run({ ...command, network: "internet" }, options)).rejects.toMatchObject({
      code: "network_unavailable",
      message: expect.stringContaining("TOWPATH_ALLOW_HOST_NETWORK=yes"),
    });
    expect(await closed.run({ ...command, network: "none" }, options)).toMatchObject({ code: 0 });
    const open = createSandboxEngine({ ...config, allowHostNetwork: true, stateDirectory: stateDirectory, host });
    expect(await open.run({ ...command, network: "internet" }, options)).toMatchObject({ code: 0 });
  });
});
