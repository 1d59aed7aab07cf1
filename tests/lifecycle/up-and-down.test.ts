import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, readlink, rm, stat, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { instancePorts, repositoryRoot, startTowpath, towpath } from "../instance/towpath-process.ts";
import { isThorough } from "../thorough.ts";

const run = promisify(execFile);
let dataDirectory: string;

beforeAll(async () => {
  dataDirectory = await mkdtemp(join(tmpdir(), "towpath-life-"));
});

afterAll(async () => {
  await rm(dataDirectory, { recursive: true, force: true });
});

/** Possible leftovers of an instance: processes whose command line or environment names the data directory. */
async function processesOf(directory: string): Promise<string[]> {
  const found: string[] = [];
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)) {
    const read = (file: string) => readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "");
    const exists = await readlink(`/proc/${pid}/exe`).catch(() => null);
    if (exists === null) continue;
    const commandLine = await read("cmdline");
    if (commandLine.includes(directory) || (await read("environ")).includes(directory)) {
      // The state shows whether a process waits for the disk (D) or got no signal.
      found.push(`${/\) (.)/.exec(await read("stat"))?.[1]} ${commandLine.replaceAll("\0", " ")}`);
    }
  }
  return found;
}

test("OPS-1 up, down, up: ready, gone within 10 s with nothing left, ready again with everything still there", async () => {
  const ports = await instancePorts();
  const first = await startTowpath(dataDirectory, ports);
  expect(first.output()).toContain(
    `Towpath is ready: http://localhost:${ports.web}  (servers at http://localhost:${ports.gateway}/{name})`,
  );
  const home = await fetch(first.url);
  expect(home.status).toBe(200);
  expect((await stat(join(dataDirectory, "operator-token"))).mode & 0o777).toBe(0o600);
  const token = await readFile(join(dataDirectory, "operator-token"), "utf8");

  const twice = await towpath("up", "--data-dir", dataDirectory, "--port", "1", "--gateway-port", "2");
  expect(twice.status).toBe(1);
  expect(twice.stderr).toContain("already runs");

  const stopped = await first.stop();
  expect(stopped.status).toBe(0);
  expect(stopped.tookMs).toBeLessThan(10_000);
  expect(await processesOf(dataDirectory)).toEqual([]);

  // At this level, the log has no "ready".
  const second = await startTowpath(dataDirectory, ports, { TOWPATH_LOG_LEVEL: "warn" });
  expect(await readFile(join(dataDirectory, "operator-token"), "utf8")).toBe(token);
  expect((await fetch(second.url)).status).toBe(200);
  second.process.kill("SIGINT");
  await once(second.process, "close");
  expect(await processesOf(dataDirectory)).toEqual([]);
});

test.runIf(isThorough)("OPS-1 a killed launcher takes everything with it, and the next start works", async () => {
  const ports = await instancePorts();
  const instance = await startTowpath(dataDirectory, ports);
  instance.process.kill("SIGKILL");
  const deadline = Date.now() + 45_000;
  while ((await processesOf(dataDirectory)).length > 0 && Date.now() < deadline)
    await new Promise((done) => setTimeout(done, 100));
  expect(await processesOf(dataDirectory)).toEqual([]);
  const again = await startTowpath(dataDirectory, ports);
  expect((await again.stop()).status).toBe(0);
});

test("OPS-1 a port in use is reported in one sentence with the remedy", async () => {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  const { status, stderr } = await towpath("up", "--data-dir", join(dataDirectory, "other"), "--port", String(port));
  server.close();
  expect(status).toBe(1);
  expect(stderr).toContain(`Port ${port} is in use. Stop what uses it, or choose another: ./towpath up --port`);
});

test.runIf(isThorough)("OPS-1 a port of the environment is checked before anything starts", async () => {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = String(typeof address === "object" && address ? address.port : 0);
  const { web } = await instancePorts();
  const args = ["up", "--data-dir", join(dataDirectory, "other"), "--port", String(web)];
  const { status, stderr } = await run(join(repositoryRoot, "towpath"), args, {
    env: { ...process.env, TOWPATH_GATEWAY_PORT: port },
  }).then(
    () => ({ status: 0, stderr: "" }),
    (error: { code: number; stderr: string }) => ({ status: error.code, stderr: error.stderr }),
  );
  server.close();
  expect([status, stderr]).toEqual([1, expect.stringContaining(`Port ${port} is in use.`)]);
});

test.runIf(isThorough)(
  "OPS-1 a data directory of another version, and a directory of something else, stay untouched",
  async () => {
    const identity = join(dataDirectory, "instance.json");
    const text = await readFile(identity, "utf8");
    await writeFile(identity, text.replace('"dataVersion": 1', '"dataVersion": 99'));
    const other = await towpath("up", "--data-dir", dataDirectory);
    await writeFile(identity, text);
    expect(other.status).toBe(1);
    expect(other.stderr).toMatch(/has version 99 and was last used by .*; this is .*, which works with version 1\./);

    const foreign = await mkdtemp(join(tmpdir(), "towpath-foreign-"));
    await writeFile(join(foreign, "letters.txt"), "mine");
    const refused = await towpath("up", "--data-dir", foreign);
    expect(refused.stderr).toContain("is not empty and is no Towpath data directory");
    expect(await readdir(foreign)).toEqual(["letters.txt"]);
    await rm(foreign, { recursive: true });
  },
);

/** The failure of `up` on a machine that has only these programs, and what starts it. */
async function refusedWith(programs: readonly string[], env: Record<string, string> = {}): Promise<unknown> {
  const bin = await mkdtemp(join(tmpdir(), "towpath-bin-"));
  const common = ["node", "git", "uv", "sh", "cat", "cksum", "mkdir", "dirname", "id", "python3", "npm"];
  for (const program of [...common, "setpriv", "unshare", "slirp4netns", ...programs]) {
    const { stdout } = await run("which", [program]).catch(() => ({ stdout: "" }));
    if (stdout.trim()) await symlink(stdout.trim(), join(bin, program));
  }
  const main = new URL("../../apps/cli/src/main.ts", import.meta.url).pathname;
  const failed = await run(process.execPath, [main, "up", "--data-dir", join(dataDirectory, "none")], {
    env: { PATH: bin, HOME: dataDirectory, ...env },
  }).then(
    () => null,
    (error: unknown) => error,
  );
  await rm(bin, { recursive: true });
  return failed;
}

test("RUN-1 without bubblewrap the instance refuses to start and says what to install", async () => {
  const failed = await refusedWith([]);
  expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining("apt-get install bubblewrap") });
});

test.runIf(isThorough)(
  "RUN-1 where gVisor is chosen and runsc missing, the instance refuses to start and says what to install",
  async () => {
    const failed = await refusedWith(["bwrap"], { TOWPATH_ISOLATION: "gvisor" });
    expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining("apt-get install runsc") });
  },
);
