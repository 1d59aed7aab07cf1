import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { isThorough } from "../../../../../tests/thorough.ts";
import type { RunOptions, VolumeEntry } from "../../port/builds.ts";
import type { ExitReason } from "../../port/execution.ts";
import { entryFrames } from "./entry-frames.ts";
import { PodService, PodUnreachable } from "./pod-service.ts";
import { type PodStep, runInPod } from "./run-in-pod.ts";

// The programs of a build pod as ordinary processes: the cluster's tests try them in pods.

const packages = fileURLToPath(new URL("../../../../../python", import.meta.url));
const secret = "correct horse";
const volumes = ["source", "tree", "work", "dependencies", "code", "cache"];
let directory: string;
let files: PodService;
let steps: PodService;
let port: number;
let interpreter: string;
const stops: (() => Promise<void>)[] = [];
const at = (...parts: string[]) => join(directory, ...parts);

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "tw-pod-"));
  for (const name of [...volumes, "packed", "run", "app"]) await mkdir(at(name));
  const asked = ["-c", "import sys; print(sys.executable)"];
  interpreter = (await promisify(execFile)("python3", asked)).stdout.trim();
  files = await start("files", at("packed"));
  steps = await start("steps", at("run"));
});
afterAll(async () => {
  await Promise.all(stops.map((stop) => stop()));
  await rm(directory, { recursive: true, force: true });
});

async function start(role: string, scratch: string): Promise<PodService> {
  const digest = createHash("sha256").update(secret).digest("hex");
  const places = JSON.stringify(Object.fromEntries(volumes.map((volume) => [volume, at(volume)])));
  const argv = ["-m", "towpath_pod.build", role, "0", digest, places, scratch];
  const env = { PATH: process.env.PATH, PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: "1" };
  const child = spawn("python3", argv, { env, stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await once(createInterface(child.stdout), "line");
  port = JSON.parse(line).port;
  const service = new PodService("127.0.0.1", port, secret);
  stops.push(async () => {
    await service.close();
    child.kill("SIGTERM");
    await once(child, "close");
  });
  return service;
}

const options = (lines: string[] = [], change: Partial<RunOptions> = {}): RunOptions => ({
  timeoutMs: 20_000,
  outputBytes: 100_000,
  onOutput: (stream, line) => lines.push(`${stream}: ${line}`),
  ...change,
});
const never = new Promise<ExitReason>(() => {});
const python = (code: string, change: Partial<PodStep> = {}): PodStep => ({
  argv: [interpreter, "-c", code],
  environment: { PATH: process.env.PATH ?? "", ONE: "1" },
  directory: "/tmp",
  network: "none",
  processes: 10_000,
  fileBytes: null,
  volumes: [],
  certificates: null,
  ...change,
});
const run = (step: PodStep, given = options(), exceeded = never) => runInPod(steps, step, given, exceeded);
const write = (volume: string, entries: Iterable<VolumeEntry> | AsyncIterable<VolumeEntry>) =>
  files.json({ path: "/write", query: { volume }, body: entryFrames(entries) });
const read = async (volume: string, path: string, maxBytes = 1000) => {
  const body = await files.stream({ path: "/read", query: { volume, path, maxBytes } });
  return Buffer.concat(await body.toArray()).toString();
};

test("a pod's service answers nobody without its secret, which its arguments don't contain", async () => {
  const stranger = new PodService("127.0.0.1", port, "another");
  await expect(stranger.json({ path: "/read" })).rejects.toMatchObject({ code: "unauthorized" });
  await stranger.close();
});

test("entries arrive in a volume as they were given, however large, and an error of theirs is the write's", async () => {
  const large = Buffer.alloc(3_000_000, "towpath ");
  await write("source", [
    { path: "part/in.txt", kind: "file", access: "read", content: "read" },
    { path: "part/large", kind: "file", access: "execute", content: Readable.from([large, Buffer.alloc(0), large]) },
    { path: "part/link", kind: "link", target: "in.txt" },
    { path: "part/empty/nested", kind: "directory" },
    { path: "ü", kind: "file", access: "shared", content: "" },
  ]);
  expect(await readFile(at("source/part/link"), "utf8")).toBe("read");
  expect((await readFile(at("source/part/large"))).equals(Buffer.concat([large, large]))).toBe(true);
  const modes = ["part/in.txt", "part/large", "part/empty/nested", "ü"].map(
    async (path) => (await stat(at("source", path))).mode & 0o777,
  );
  expect(await Promise.all(modes)).toEqual([0o644, 0o755, 0o755, 0o666]);
  async function* failing(): AsyncGenerator<VolumeEntry> {
    yield { path: "a", kind: "file", access: "read", content: "" };
    throw new Error("the archive is damaged");
  }
  await expect(write("source", failing())).rejects.toThrow("the archive is damaged");
});

test("BLD-2 nothing is written or read through links that a step has left", async () => {
  const left = `import os; os.chdir(${JSON.stringify(at("work"))}); os.symlink("/etc/passwd", "link"); os.symlink("/etc", "directory"); os.mkfifo("pipe")
open("large", "w").write("x" * 1001)`;
  expect(await run(python(left))).toEqual({ reason: "exited", code: 0, signal: null });
  for (const path of ["link", "directory/passwd", "pipe", "large", "missing", "."])
    await expect(read("work", path), path).rejects.toThrow();
  await expect(read("work", "link")).rejects.toMatchObject({ code: "unreadable" });
  await write("work", [{ path: "link", kind: "file", access: "shared", content: "mine" }]);
  expect(await read("work", "link")).toBe("mine");
  for (const path of ["../out", "/out", "a//b", "directory/out", "link/out"]) {
    const written = write("work", [{ path, kind: "file", access: "read", content: "" }]);
    await expect(written, path).rejects.toMatchObject({ code: "invalid_spec" });
  }
});

test("a step has its environment only, both outputs, and the volumes where it expects them", async () => {
  await writeFile(at("tree/file"), "in the tree");
  const lines: string[] = [];
  const code = `import os, sys
print(sorted(os.environ), os.getcwd() == ${JSON.stringify(at("tree"))}, open("file").read())
print("problem", file=sys.stderr)
sys.exit(3)`;
  const here = { volumes: [{ volume: "tree", path: at("app/src") }], directory: at("app/src") };
  expect(await run(python(code, here), options(lines))).toEqual({ reason: "exited", code: 3, signal: null });
  expect(lines.toSorted()).toEqual(["stderr: problem", "stdout: ['LC_CTYPE', 'ONE', 'PATH'] True in the tree"]);
  // The next one has another volume there.
  const other = { volumes: [{ volume: "source", subPath: "part", path: at("app/src") }], directory: at("app/src") };
  expect((await run(python("open('in.txt')", other))).code).toBe(0);
  const occupied = { volumes: [{ volume: "source", path: at("tree") }] };
  await expect(run(python("", occupied))).rejects.toMatchObject({ code: "invalid_spec" });
  expect((await run(python("import os; os.kill(os.getpid(), 11)"))).signal).toBe("SIGSEGV");
  expect((await run({ ...python(""), argv: ["/absent"] })).code).toBe(127);
});

test("RUN-1 a step without a network has no socket, of its own or of others", async () => {
  const code = `import ctypes, os, socket
for family in (socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK, socket.AF_PACKET):
    try: socket.socket(family, socket.SOCK_STREAM); print("open")
    except OSError as error: print(error.errno)
a, b = socket.socketpair(); a.send(b"x"); print(b.recv(1))
try: open(f"/proc/{os.getppid()}/mem", "r+b"); print("open")
except OSError as error: print(error.errno)
libc = ctypes.CDLL(None, use_errno=True)
print(libc.ptrace(16, os.getppid(), 0, 0), ctypes.get_errno())
print(os.system("python3 -c 'import socket; socket.socket()' 2>/dev/null") != 0)`;
  const lines: string[] = [];
  const with0 = process.getuid?.() === 0;
  await run(python(code), options(lines));
  const found = lines.map((line) => line.replace("stdout: ", ""));
  expect(found.slice(0, 5)).toEqual(["97", "97", "97", "97", "b'x'"]);
  // Root may read the memory of every process; in a pod nobody is root.
  if (!with0) expect(found[5]).toBe("13");
  expect(found.slice(6)).toEqual(["-1 1", "True"]);
  const connected: string[] = [];
  await run(python("import socket; socket.socket(); print('open')", { network: "internet" }), options(connected));
  expect(connected).toEqual(["stdout: open"]);
});

test.runIf(isThorough)("BLD-13 a step ends with what it started, at its limits and when it is aborted", async () => {
  const mark = at("work/alive");
  const child = `import time\\nwhile True: open(${JSON.stringify(mark)}, 'a').write('x'); time.sleep(0.02)`;
  const code = `import subprocess, sys; subprocess.Popen([sys.executable, "-c", "${child.replaceAll('"', '\\"')}"])`;
  const hasEnded = async () => {
    await sleep(200);
    const before = (await stat(mark)).size;
    await sleep(200);
    return (await stat(mark)).size === before;
  };
  expect((await run(python(`${code}\nimport time; time.sleep(0.5)`))).code).toBe(0);
  expect(await hasEnded()).toBe(true);
  const endless = python(`${code}\nimport time; time.sleep(60)`);
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 500);
  expect((await run(endless, options([], { signal: controller.signal }))).reason).toBe("stopped");
  expect(await hasEnded()).toBe(true);
  expect((await run(endless, options([], { timeoutMs: 500 }))).reason).toBe("timed-out");
  const silent = python("import os, time; os.close(1); os.close(2); time.sleep(60)");
  expect((await run(silent, options([], { timeoutMs: 500 }))).reason).toBe("timed-out");
  expect((await run(python("while True: print('y' * 100)"))).reason).toBe("output-limit");
  expect((await run(python("while True: print()"))).reason).toBe("output-limit");
  expect((await run(endless, options(), Promise.resolve("disk-full" as const))).reason).toBe("disk-full");
  expect(
    (await run(python("open('large', 'wb').write(b'x' * 20_000)", { fileBytes: 10_000, directory: at("work") }))).code,
  ).toBe(1);
});

test("RUN-1 the watch reports what a build has written, without what the cache had", async () => {
  const watch = (maxBytes: number, freeBytes = 0, signal?: AbortSignal) =>
    files.json({ path: "/watch", query: { maxBytes, freeBytes }, ...(signal && { signal }) });
  expect(await watch(2 ** 40, 2 ** 60)).toEqual({ reason: "disk-full" });
  const controller = new AbortController();
  const watching = watch(10_000_000, 0, controller.signal);
  await sleep(300);
  controller.abort(new Error("enough"));
  await expect(watching).rejects.toThrow();
  await writeFile(at("dependencies/large"), Buffer.alloc(20_000_000, 1));
  expect(await watch(10_000_000)).toEqual({ reason: "disk-limit" });
});

test.runIf(isThorough)(
  "RUN-7 a layer is sent again when the connection breaks or the store fails, and too large a one is refused",
  async () => {
    await writeFile(at("code/file"), "of the layer");
    const packed = await files.json<{ digest: string }>({ path: "/pack", query: { volume: "code", maxBytes: 1e6 } });
    const sent: string[] = [];
    const store = createServer(async (request, response) => {
      const bytes = Buffer.concat(await request.toArray());
      sent.push(createHash("sha256").update(bytes).digest("hex"));
      if (sent.length === 1) return void request.socket.resetAndDestroy();
      response.writeHead(sent.length === 2 ? 503 : 200).end();
    });
    store.listen(0, "127.0.0.1");
    await once(store, "listening");
    onTestFinished(() => void store.close());
    const body = { url: `http://127.0.0.1:${(store.address() as AddressInfo).port}/layer?signed=1`, headers: {} };
    const send = () => files.json<{ status: number }>({ path: "/send", query: { volume: "code" }, body });
    expect((await send()).status).toBe(200);
    expect(sent).toEqual([packed.digest, packed.digest, packed.digest]);
    await writeFile(at("packed/code"), "");
    await truncate(at("packed/code"), 5 * 1024 ** 3 + 1);
    await expect(send()).rejects.toMatchObject({ code: "too_large" });
    expect(sent).toHaveLength(3);
  },
);

test("a service that has ended is reported as unreachable", async () => {
  const gone = new PodService("127.0.0.1", 1, secret);
  await expect(gone.json({ path: "/about" })).rejects.toThrow(PodUnreachable);
  await gone.close();
});
