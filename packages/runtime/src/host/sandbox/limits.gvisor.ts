import { rm } from "node:fs/promises";
import { expect, onTestFinished, test } from "vitest";
import { shortDirectory } from "../../testing/short-directory.ts";
import { testLimits } from "../../testing/tiny-server.ts";
import { strictIsolation } from "../config.ts";
import { noCgroups } from "./cgroup-layout.ts";
import { createSandboxEngine } from "./engine.ts";

// Run by `./towpath test gvisor`, because it needs runsc and root.

test("RUN-1 without control groups gVisor runs nothing, even if weak limits are allowed", async () => {
  const stateDirectory = await shortDirectory();
  const isolation = { ...strictIsolation, kernel: "gvisor", allowWeakLimits: true } as const;
  const engine = createSandboxEngine({ ...isolation, stateDirectory, cgroups: noCgroups });
  onTestFinished(async () => {
    await engine.close();
    await rm(stateDirectory, { recursive: true, force: true });
  });
  const { trusted, refuses, problems, exceptions } = await engine.selfTest();
  expect([trusted, refuses, exceptions]).toEqual([false, true, []]);
  const remedy = /no limit on a server's memory and processes.*control groups, or set TOWPATH_ISOLATION=bubblewrap/;
  expect(problems).toEqual([expect.stringMatching(remedy)]);
  const argv: [string, ...string[]] = ["/usr/bin/python3", "-c", "pass"];
  const command = { argv, env: {}, workingDirectory: "/tmp", mounts: [], limits: testLimits, network: "none" } as const;
  const run = engine.run(command, { timeoutMs: 10_000, outputBytes: 1000, onOutput: () => {} });
  await expect(run).rejects.toMatchObject({ code: "isolation_unavailable", message: problems[0] });
});
