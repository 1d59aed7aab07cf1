import { randomUUID } from "node:crypto";
import { readdir, readFile, rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isThorough } from "../../../../../tests/thorough.ts";
import type { RuntimeDriver } from "../../port/driver.ts";
import type { InstanceHandle, Prewarmed, PrewarmResult, PrewarmSpec, ServerSpec } from "../../port/servers.ts";
import { shortDirectory } from "../../testing/short-directory.ts";
import { testLimits, tinyServer } from "../../testing/tiny-server.ts";
import { strictIsolation } from "../config.ts";
import { createSandboxDriver } from "../driver.ts";
import { childrenOf, processTree } from "../process/tree.ts";

// Only root can give an interpreter the users for its forks.
const root = process.getuid?.() === 0;
const mebibyte = 1024 * 1024;
let directory = "";
let driver: RuntimeDriver;

async function openDriver(): Promise<void> {
  directory = await shortDirectory();
  driver = createSandboxDriver({
    ...tinyServer.driverConfig(directory),
    stateDirectory: directory,
    ...strictIsolation,
  });
}
async function closeDriver(): Promise<void> {
  await driver.close();
  const left = async () => (await Promise.all(["code", "i"].map((name) => readdir(`${directory}/${name}`)))).flat();
  for (const until = performance.now() + 5000; (await left()).length > 0; await sleep(20))
    if (performance.now() > until) throw new Error(`directories are left: ${await left()}`);
  await rm(directory, { recursive: true, force: true });
}

function prewarm(change: Partial<PrewarmSpec> = {}): Promise<PrewarmResult> {
  const { layers, pythonVersion, limits } = tinyServer.server("serve");
  return driver.servers.prewarm({
    organizationId: "org-1",
    dependencies: layers.dependencies,
    pythonVersion,
    network: "none",
    limits,
    startTimeoutMs: 10_000,
    ...change,
  });
}

async function prewarmed(change: Partial<PrewarmSpec> = {}): Promise<Prewarmed> {
  const result = await prewarm(change);
  if (!result.ok) throw new Error(result.reason);
  return result.prewarmed;
}

async function claim(waiting: Prewarmed, change: Partial<ServerSpec> = {}): Promise<InstanceHandle> {
  const server = tinyServer.server("serve", change);
  const spec = { instanceId: randomUUID(), server, startTimeoutMs: 10_000 };
  const result = await waiting.claim("org-1", spec, () => {});
  if (!("ok" in result) || !result.ok) throw new Error(`not started: ${JSON.stringify(result)}`);
  return result.handle;
}

const forkWith = async (token: string) =>
  claim(await prewarmed(), { environment: { TINY_MODE: "serve", TOKEN: token } });

/** What an expression of Python gives in a server. */
async function evaluate(handle: InstanceHandle, expression: string): Promise<unknown> {
  const text = await tinyServer.get(handle.endpoint, `/evaluate/${encodeURIComponent(expression)}`, 30_000);
  if (text === null) throw new Error(`no answer to ${expression}`);
  return JSON.parse(text);
}

/** The error by which a statement of Python fails in a server, "done" if it doesn't. */
const attempt = (handle: InstanceHandle, statement: string) =>
  evaluate(
    handle,
    `(lambda place: (exec(${JSON.stringify(`
import ctypes, os, socket
try:
    ${statement}
    result = "done"
except Exception as error:
    result = type(error).__name__
`)}, place), place["result"])[1])({})`,
  );

async function commands(program: string): Promise<number[]> {
  const tree = await processTree(process.pid);
  const lines = await Promise.all(tree.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")));
  return tree.filter((_, index) => lines[index]?.startsWith(program));
}
async function noneLeft(): Promise<void> {
  for (const until = performance.now() + 5000; (await interpreters()).length > 0; await sleep(20))
    if (performance.now() > until) throw new Error("interpreters are left");
}
const interpreters = () => commands("/app/.venv/bin/python");

describe.runIf(root)("forks of one interpreter", () => {
  let ada: InstanceHandle;
  let bob: InstanceHandle;
  const secrets = ["ada-8f7e6d5c4b3a", "bob-1a2b3c4d5e6f"] as const;

  beforeAll(async () => {
    await openDriver();
    ada = await forkWith(secrets[0]);
    bob = await forkWith(secrets[1]);
  });
  afterAll(async () => {
    await Promise.all([ada.stop(1000), bob.stop(1000)]);
    await noneLeft();
    await closeDriver();
  });

  test("CAP-1 RUN-3 share the memory of what was imported: each adds a small part of it", async () => {
    const rollups = await Promise.all(
      (await interpreters()).map((pid) => readFile(`/proc/${pid}/smaps_rollup`, "utf8")),
    );
    const sizes = rollups.map((text) => Number(/^Private_Dirty:\s+(\d+) kB$/m.exec(text)?.[1]) * 1024);
    // An interpreter of the standard library alone takes 8 MiB.
    for (const bytes of sizes.slice(1)) expect(bytes).toBeLessThan(5 * mebibyte);
    for (const handle of [ada, bob]) expect(await handle.memoryBytes()).toBeLessThan(40 * mebibyte);
  });

  test("RUN-4 CAP-1 have each the environment of their own server, and no capability, group or descriptor more than others", async () => {
    const ordinary = await driver.servers.start(
      { instanceId: randomUUID(), server: tinyServer.server("serve"), startTimeoutMs: 10_000 },
      () => {},
    );
    if (!ordinary.ok) throw new Error("did not start");
    const own = `[sorted(line for line in open("/proc/self/status").read().splitlines() if line.split(":")[0] in
      ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp", "Groups")),
      sorted(os.listdir("/")), sorted(os.listdir("/dev")), sorted(os.listdir(os.path.expanduser("~"))), os.getcwd(),
      os.access("/app/.venv", os.W_OK), sorted(os.listdir("/etc")), __import__("resource").getrlimit(7),
      [name for _, name in __import__("socket").if_nameindex()], __import__("pwd").getpwuid(os.getuid()).pw_name]`.replaceAll(
      "\n",
      " ",
    );
    const usual = await evaluate(ordinary.handle, own);
    for (const [handle, token] of [
      [ada, secrets[0]],
      [bob, secrets[1]],
    ] as const) {
      expect(await evaluate(handle, own)).toEqual(usual);
      expect(await evaluate(handle, 'os.environ["TOKEN"]')).toBe(token);
    }
    await ordinary.handle.stop(1000);
  });

  test("RUN-1 CAP-1 are different users in namespaces of their own, which see nobody else's processes", async () => {
    const namespaces = `[os.readlink("/proc/self/ns/" + kind) for kind in ("ipc", "mnt", "net", "pid", "uts")]`;
    const [one, other] = [await evaluate(ada, namespaces), await evaluate(bob, namespaces)] as [string[], string[]];
    for (const [index, name] of one.entries()) expect(name).not.toBe(other[index]);
    const pids = await interpreters();
    const users = await Promise.all(pids.map(async (pid) => /^Uid:\s+(\d+)/m.exec(await status(pid))?.[1]));
    // Its parent, what stands by each fork, and the forks.
    expect(new Set(users).size).toBeGreaterThanOrEqual(4);
    const visible = `[open(f"/proc/{pid}/cmdline").read().split(chr(0))[0] for pid in sorted(os.listdir("/proc")) if pid.isdigit()]`;
    for (const handle of [ada, bob])
      expect(await evaluate(handle, visible)).toEqual(["towpath-init", "/app/.venv/bin/python"]);
  });

  const status = (pid: number) => readFile(`/proc/${pid}/status`, "utf8");

  test("RUN-1 CAP-1 can't read another's environment, memory, files or descriptors, nor what they share before", async () => {
    const hostPids = await interpreters();
    for (const pid of hostPids)
      for (const file of ["environ", "mem", "maps", "root/etc/passwd", "fd", "ns/mnt"])
        expect(await attempt(ada, `open("/proc/${pid}/${file}").read(1)`)).toBe("FileNotFoundError");
    for (const file of ["environ", "mem", "maps", "root/etc/passwd"])
      expect(await attempt(ada, `open("/proc/1/${file}").read(1)`)).toMatch(/PermissionError/);
    // All memory of one, from before and after the fork: its own value is found, and another's isn't. Backwards, as the
    // question is in memory too.
    const found = (token: string) => `sum(b"${[...token].reverse().join("")}" in part[::-1] for part in memory())`;
    const whole =
      `(lambda memory: FOUND)(lambda: (lambda file: [(file.seek(int(a, 16)), file.read(int(b, 16) - int(a, 16)))[1] for a, b in
      [line.split()[0].split("-") for line in open("/proc/self/maps") if line.split()[1].startswith("rw")]])(open("/proc/self/mem", "rb", 0)))`.replaceAll(
        "\n",
        " ",
      );
    expect(await evaluate(ada, whole.replace("FOUND", found(secrets[0])))).toBeGreaterThan(0);
    expect(await evaluate(ada, whole.replace("FOUND", found(secrets[1])))).toBe(0);
  });

  test("RUN-1 CAP-1 share no file system in memory, loopback, abstract socket, terminal or shared memory", async () => {
    for (const path of [
      "/tmp/left",
      "/dev/shm/left",
      "/home/towpath/left",
      "/app/src/left",
      "/run/towpath/left",
      "/data/left",
    ]) {
      expect(await attempt(ada, `open("${path}", "w").write("x")`)).toBe("done");
      expect(await attempt(bob, `open("${path}").read()`)).toBe("FileNotFoundError");
    }
    await evaluate(ada, `kept.append(__import__("socket").create_server(("127.0.0.1", 4321)))`);
    expect(await attempt(ada, `socket.create_connection(("127.0.0.1", 4321), 2)`)).toBe("done");
    expect(await attempt(bob, `socket.create_connection(("127.0.0.1", 4321), 2)`)).toBe("ConnectionRefusedError");
    const abstract = `s = socket.socket(socket.AF_UNIX); s.VERB(chr(0) + "of-ada")`;
    const listening = `s = __import__("socket").socket(__import__("socket").AF_UNIX)`;
    await evaluate(
      ada,
      `(lambda s: (s.bind(chr(0) + "of-ada"), s.listen(), kept.append(s))[0])(${listening.slice(4)})`,
    );
    expect(await attempt(ada, abstract.replace("VERB", "connect"))).toBe("done");
    expect(await attempt(bob, abstract.replace("VERB", "connect"))).toBe("ConnectionRefusedError");
    await evaluate(ada, `kept.append(os.openpty()) or 0`);
    expect(await evaluate(ada, `sorted(os.listdir("/dev/pts"))`)).toEqual(["0", "ptmx"]);
    expect(await evaluate(bob, `sorted(os.listdir("/dev/pts"))`)).toEqual(["ptmx"]);
  });

  test("RUN-1 are refused the system calls that other servers are, also those that their parent may make", async () => {
    const call = (text: string) => `r = ctypes.CDLL(None, use_errno=True).${text}; assert r == 0, r`;
    for (const refused of [
      "setns(os.open('/proc/self/ns/net', 0), 0)",
      "unshare(0x10000000)",
      "mount(b'x', b'/tmp', b'tmpfs', 0, None)",
      "umount2(b'/run/towpath', 2)",
      "chroot(b'/tmp')",
      "setuid(0)",
      "prctl(24, 21, 0, 0, 0) or 1",
    ])
      expect([refused, await attempt(ada, call(refused))]).toEqual([refused, "AssertionError"]);
    expect(await attempt(ada, "os.kill(1, 9)")).toBe("PermissionError");
  });

  test("RUN-1 draw different random numbers", async () => {
    for (const numbers of [
      `__import__("random").random()`,
      `__import__("ssl").RAND_bytes(8).hex()`,
      `str(__import__("uuid").uuid4())`,
      `next(__import__("tempfile")._get_candidate_names())`,
    ])
      expect(await evaluate(ada, numbers)).not.toEqual(await evaluate(bob, numbers));
  });
});

describe.runIf(root)("a fork", () => {
  beforeAll(openDriver);
  afterAll(closeDriver);

  test.runIf(isThorough)(
    "RUN-3 is made only where there is an interpreter to fork, if nothing else is asked for",
    async () => {
      expect(await prewarm({ onlyForked: true })).toMatchObject({ ok: false, isFinal: false });
      const waiting = await prewarmed();
      const another = await prewarmed({ onlyForked: true });
      expect(await prewarm({ onlyForked: true, organizationId: "org-2" })).toMatchObject({ ok: false, isFinal: false });
      await Promise.all([waiting.end(), another.end()]);
      await noneLeft();
    },
  );

  test.runIf(isThorough)(
    "RUN-6 RUN-1 ends for its own reasons, which are known, and takes no other with it",
    async () => {
      const [crashing, killed, full, stays] = (await Promise.all(["a", "b", "c", "d"].map(forkWith))) as [
        InstanceHandle,
        InstanceHandle,
        InstanceHandle,
        InstanceHandle,
      ];
      void tinyServer.get(crashing.endpoint, "/crash");
      expect(await crashing.exited).toEqual({ reason: "exited", code: 3, signal: null });
      void attempt(killed, "os.kill(os.getpid(), 9)").catch(() => {});
      expect(await killed.exited).toEqual({ reason: "signaled", code: null, signal: "SIGKILL" });
      void tinyServer.get(full.endpoint, `/allocate/${(2 * testLimits.memoryBytes) / mebibyte}`);
      expect((await full.exited).reason).toBe("out-of-memory");
      expect(await tinyServer.get(stays.endpoint)).toMatch(/^hello/);
      expect(await stays.freeze()).toBe(true);
      expect(await tinyServer.get(stays.endpoint, "/", 300)).toBeNull();
      await stays.wake();
      // Orphans are reaped, and end with it.
      await attempt(stays, `(os.fork(), os._exit(0)) if os.fork() == 0 else os.wait()`);
      expect((await stays.stop(2000)).reason).toBe("stopped");
      await noneLeft();
    },
  );

  test("RUN-1 ends with the process that the platform holds for it, and all with their parent", async () => {
    const [one, other] = [await forkWith("a"), await forkWith("b")];
    const [monitor = 0] = await commands("sh\0-c");
    process.kill(monitor, "SIGKILL");
    await Promise.race([one.exited, other.exited]);
    const [left] = (await Promise.all([one, other].map(async (each) => ((await each.isAlive()) ? [each] : [])))).flat();
    expect(await tinyServer.get(left?.endpoint)).toMatch(/^hello/);
    for (const pid of await commands("/usr/bin/bwrap")) process.kill(pid, "SIGKILL");
    await left?.exited;
    await noneLeft();
    expect(await childrenOf(process.pid)).not.toContain(monitor);
    // The next one has a parent of its own again.
    await (await forkWith("c")).stop(1000);
  });

  test("CAP-1 are as many as are needed: what each adds to their parent's memory doesn't end it", async () => {
    // The parent alone takes most of it.
    const limits = { ...testLimits, memoryBytes: 16 * mebibyte };
    const waiting: Prewarmed[] = [];
    while (waiting.length < 12)
      waiting.push(await prewarmed(waiting.length === 0 ? { limits } : { limits, onlyForked: true }));
    // Their parent, the forks, and what stands by each.
    expect(await interpreters()).toHaveLength(25);
    for (const each of waiting) await each.end();
    await noneLeft();
  });

  test("CAP-1 go on when another one fails", async () => {
    const one = await forkWith("a");
    const failed = await prewarm({ limits: { ...testLimits, processes: 0 }, onlyForked: true });
    expect(failed).toMatchObject({ ok: false });
    expect(await tinyServer.get(one.endpoint)).toMatch(/^hello/);
    // Servers of its kind start without it for now.
    expect(await prewarm({ onlyForked: true })).toMatchObject({ ok: false });
    await one.stop(1000);
    await noneLeft();
  });
});
