import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "towpath-http-backend-"));
  await promisify(execFile)("git", ["init", "-q", "--bare", directory]);
});
afterEach(() => rm(directory, { recursive: true, force: true }));

/** Processes of git that serve this repository. */
async function serving(): Promise<string[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const environment = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
      return environment.includes(`GIT_PROJECT_ROOT=${directory}`) ? [pid] : [];
    }),
  );
  return found.flat();
}

test("SRC-3 OPS-3 a process that is killed in the middle of a push leaves no git behind", async () => {
  const script = fileURLToPath(new URL("./testing/push-until-killed.ts", import.meta.url));
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", script, directory], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  expect(await serving()).not.toEqual([]);
  child.kill("SIGKILL");
  await once(child, "exit");
  await expect.poll(serving, { timeout: 60_000 }).toEqual([]);
});
