import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { shortDirectory } from "../../testing/short-directory.ts";

// What the programs of a pod need of its kernel, on gVisor's. Run by `./towpath test gvisor`, because it needs runsc and root.

const packages = fileURLToPath(new URL("../../../../../python", import.meta.url));

/** Runs a program as the first process of a container, and resolves to the JSON that it prints. */
async function runOnGvisor(program: string): Promise<unknown> {
  const root = await shortDirectory();
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const options = [`--root=${root}`, "--platform=ptrace", "--network=none", "--ignore-cgroups"];
  const python = ["/usr/bin/env", `PYTHONPATH=${packages}`, "PYTHONDONTWRITEBYTECODE=1", "/usr/bin/python3"];
  const { stdout } = await promisify(execFile)("runsc", [...options, "do", ...python, "-c", program]);
  return JSON.parse(stdout);
}

test("RUN-7 RUN-1 a pod on gVisor's kernel is known to give no more rights, and to filter no system calls", async () => {
  const program = `
import json
from towpath_pod import probe
print(json.dumps({name: probe._CHECKS[name]() for name in ("privileges", "system calls")}))`;
  expect(await runOnGvisor(program)).toEqual({ privileges: "", "system calls": "system calls are not filtered" });
});

test("RUN-3 RUN-7 on gVisor's kernel an interpreter that waits is stopped, and goes on with its server", async () => {
  const program = `
import json, subprocess, sys, time
from towpath_pod import prewarmed
busy = subprocess.Popen([sys.executable, "-c", "while True: pass"], start_new_session=True)
time.sleep(0.5)
since = prewarmed.stop(busy, "/tmp/start.json")
time.sleep(1)
has_waited = not prewarmed.has_run(busy, since)
prewarmed.go_on(busy)
time.sleep(0.5)
has_gone_on = prewarmed.has_run(busy, since)
prewarmed.end(busy)
print(json.dumps([has_waited, has_gone_on, busy.wait()]))`;
  expect(await runOnGvisor(program)).toEqual([true, true, -9]);
});

test("RUN-1 on gVisor's kernel the processes of a server are counted: with twice its limit it is to be ended", async () => {
  const program = `
import json, subprocess
from towpath_pod.process_limit import ProcessLimit
limit = ProcessLimit(4)
looks = []
for _ in range(2):
    for _ in range(4):
        subprocess.Popen(["/bin/sleep", "100"])
    looks.append(limit.look())
print(json.dumps(looks))`;
  expect(await runOnGvisor(program)).toEqual([false, true]);
});
