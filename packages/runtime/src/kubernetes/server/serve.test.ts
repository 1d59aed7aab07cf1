import { type ChildProcess, execFile, spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { isThorough } from "../../../../../tests/thorough.ts";
import { tinyServer } from "../../testing/tiny-server.ts";
import { Records } from "./records.ts";

// The program of a server's container as an ordinary process: the cluster's tests try it in pods.

const packages = fileURLToPath(new URL("../../../../../python", import.meta.url));
let directory = "";
let python = "";
const children = new Set<ChildProcess>();
beforeAll(async () => {
  // Not a program in its place that sets variables of its own.
  const asked = await promisify(execFile)("python3", ["-c", "import sys; print(sys.executable)"]);
  python = asked.stdout.trim();
});
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "tw-serve-"));
  for (const name of ["src", "run"]) await mkdir(join(directory, name));
});
afterEach(async () => {
  for (const child of children) child.kill("SIGKILL");
  children.clear();
  await rm(directory, { recursive: true, force: true });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** `prewarm`: begins as an interpreter, for which `become` writes the server. */
async function started(
  mode: string,
  startSeconds = 30,
  limits: object = { processes: 100_000, sharesUser: false },
  prewarm = false,
) {
  const port = await freePort();
  const start = join(directory, "start.json");
  const status = `${directory}/run/status.json`;
  const server = [`--listen=127.0.0.1:${port}`, `--status=${status}`];
  const env = { PATH: process.env.PATH ?? "", TINY_MODE: mode, TOKEN: "a 'b'" };
  const document = {
    argv: [
      python,
      join(tinyServer.directory, "towpath_runner/__main__.py"),
      ...(prewarm ? ["--prewarm-status", status] : server),
    ],
    environment: prewarm ? { PATH: env.PATH, TINY_PLANT: start, TINY_WAKE: String(port) } : env,
    prewarm,
    directory: join(directory, "src"),
    makeDirectories: [join(directory, "home/.cache")],
    status,
    data: directory,
    port,
    secret: "the secret",
    startSeconds,
    limits,
  };
  await writeFile(start, JSON.stringify(document));
  const report = join(directory, "report");
  const code = "import sys; from towpath_pod.serve import serve; sys.exit(serve(sys.argv[1]))";
  const own = {
    PATH: process.env.PATH,
    PYTHONPATH: packages,
    TOWPATH_TERMINATION_LOG: report,
    SECRET_OF_PLATFORM: "x",
  };
  const child = spawn(python, ["-c", code, start], { env: own, stdio: ["ignore", "pipe", "inherit"] });
  children.add(child);
  const lines: string[] = [];
  const usage: unknown[] = [];
  const prewarmed: unknown[] = [];
  const records = new Records(
    (stream, line) => lines.push(`${stream}: ${line}`),
    {},
    { usage: (used) => usage.push(used), prewarm: (found) => prewarmed.push(found) },
  );
  child.stdout.on("data", (chunk: Buffer) => records.push(chunk));
  const exit = new Promise<number | null>((resolve) => child.once("close", resolve));
  const endpoint = { kind: "tcp", host: "127.0.0.1", port, secret: "the secret" } as const;
  return {
    child,
    lines,
    usage,
    prewarmed,
    exit,
    wake: () =>
      new Promise((resolve) => {
        const socket = createSocket("udp4");
        socket.send("x", port, "127.0.0.1", () => socket.close(() => resolve(null)));
      }),
    become: async () => {
      const claim = { env, arguments: server, secret: "the secret" };
      await writeFile(`${start}.new`, JSON.stringify({ port, secret: "the secret", startSeconds, limits, claim }));
      await rename(`${start}.new`, start);
    },
    isStartThere: () =>
      stat(start).then(
        () => true,
        () => false,
      ),
    report: async () => JSON.parse(await readFile(report, "utf8")),
    get: (path: string) => tinyServer.get(endpoint, path),
    ready: () =>
      expect.poll(() => tinyServer.get(endpoint, "/-/towpath/status"), { timeout: 10_000 }).toContain("ready"),
  };
}

const childrenOf = async (pid = 0) =>
  (await readFile(`/proc/${pid}/task/${pid}/children`, "utf8")).trim().split(" ").map(Number);
const stateOf = async (pid: number) => (await readFile(`/proc/${pid}/stat`, "utf8")).split(") ")[1]?.[0];

test("RUN-4 RUN-7 a server in a pod gets its variables alone, its secret on standard input, and no file of the start", async () => {
  const server = await started("serve");
  await server.ready();
  expect(await server.isStartThere()).toBe(false);
  const environment = JSON.parse((await server.get("/environment")) ?? "{}");
  expect(
    Object.keys(environment)
      .filter((name) => name !== "LC_CTYPE")
      .toSorted(),
  ).toEqual(["PATH", "TINY_MODE", "TOKEN"]);
  expect(environment.TOKEN).toBe("a 'b'");
  await server.get("/print/3");
  await expect
    .poll(() => server.lines)
    .toEqual(["stdout: starting in mode serve", ...["line 0", "line 1", "line 2"].map((line) => `stdout: ${line}`)]);
  server.child.kill("SIGTERM");
  expect(await server.exit).toBe(143);
  expect(await server.report()).toEqual({ signal: "SIGTERM" });
  expect(server.usage).toContainEqual({ usedBytes: expect.any(Number), capacityBytes: expect.any(Number) });
});

test("RUN-3 RUN-7 an interpreter in a pod uses no processor while it waits, then becomes the server that comes", async () => {
  const server = await started("serve", 30, { processes: 100_000, sharesUser: false }, true);
  await expect.poll(() => server.prewarmed, { timeout: 10_000 }).toEqual([{ state: "prewarmed" }]);
  // It has a thread that is always busy.
  const [interpreter = 0] = await childrenOf(server.child.pid);
  expect(await stateOf(interpreter)).toBe("T");
  // What it has put there is gone.
  expect(await server.isStartThere()).toBe(false);
  expect(await server.get("/-/towpath/status")).toBeNull();
  await server.become();
  await server.ready();
  expect(await server.isStartThere()).toBe(false);
  expect(await childrenOf(server.child.pid)).toEqual([interpreter]);
  expect(JSON.parse((await server.get("/environment")) ?? "{}")).toMatchObject({ TINY_MODE: "serve", TOKEN: "a 'b'" });
  await expect.poll(() => server.lines).toEqual(["stdout: prewarming", "stdout: starting in mode serve"]);
  server.child.kill("SIGTERM");
  expect(await server.exit).toBe(143);
});

test.runIf(isThorough)(
  "RUN-3 RUN-7 an interpreter that has itself woken before its server comes is ended",
  async () => {
    const server = await started("serve", 30, { processes: 100_000, sharesUser: false }, true);
    await expect.poll(() => server.prewarmed, { timeout: 10_000 }).toEqual([{ state: "prewarmed" }]);
    // Left alone, it goes on waiting.
    await sleep(1500);
    expect(server.child.exitCode).toBeNull();
    await server.wake();
    expect(await server.exit).toBe(137);
    expect(server.lines.at(-1)).toMatch(/ran while it had to wait, and was ended/);
  },
);

test("RUN-3 RUN-7 an interpreter that nobody needs ends with its pod", async () => {
  const server = await started("serve", 30, { processes: 100_000, sharesUser: false }, true);
  await expect.poll(() => server.prewarmed, { timeout: 10_000 }).toHaveLength(1);
  const [interpreter = 0] = await childrenOf(server.child.pid);
  process.kill(interpreter, "SIGKILL");
  expect(await server.exit).toBe(137);
});

test("RUN-7 it reports how a server failed or ended", async () => {
  const failing = await started("fail");
  expect(await failing.exit).toBe(1);
  expect(await failing.report()).toMatchObject({ failed: { code: "module_missing", module: "nowhere" } });
  const ending = await started("exit");
  expect(await ending.exit).toBe(7);
  expect(ending.lines).toEqual(["stdout: starting in mode exit", "stderr: nothing to do"]);
});

test("RUN-7 a start that takes too long ends, and says what it was doing", async () => {
  const server = await started("hang", 0.5);
  expect(await server.exit).toBe(124);
  const { late } = await server.report();
  expect(late.afterMs).toBeGreaterThanOrEqual(500);
  expect(["waiting", "starved"]).toContain(late.activity);
});

test.runIf(isThorough)("RUN-5 RUN-7 a flood is bounded where it arises", async () => {
  const server = await started("flood");
  await server.ready();
  await sleep(1500);
  server.child.kill("SIGTERM");
  await server.exit;
  expect(server.lines.length).toBeLessThan(12_000);
  expect(server.lines.some((line) => /… \d+ lines \(\d+ bytes\) dropped/.test(line))).toBe(true);
});
