import { execFileSync } from "node:child_process";
import { lookup } from "node:dns/promises";
import { readdirSync, readFileSync } from "node:fs";
import { chmod, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type IsolationConfig, strictIsolation } from "../host/config.ts";
import type { Engine, SandboxSpec } from "../host/engine.ts";
import { createSandboxEngine } from "../host/sandbox/engine.ts";
import { hostAddresses } from "../host/sandbox/network.ts";
import type { Exit } from "../port/execution.ts";
import { shortDirectory } from "./short-directory.ts";
import { testLimits, tinyServer } from "./tiny-server.ts";

const root = process.getuid?.() === 0;
let stateDirectory = "";
let driver: Engine;

/** Where kernels differ. */
type Traits = {
  /** The ids that the first command of a sandbox sees, as Python prints a list. */
  readonly visibleProcesses: string;
  /** What callers of a server get that has replaced its socket. */
  readonly withoutItsSocket: RegExp | null;
};

/** What every sandbox of this host isolates, whichever kernel serves it, tried from inside. */
export function isolationContract(kernel: IsolationConfig["kernel"], traits: Traits): void {
  describe(`isolation contract: ${kernel}`, () => {
    beforeAll(async () => {
      stateDirectory = await shortDirectory();
      driver = createSandboxEngine({ ...strictIsolation, kernel, stateDirectory });
    });
    afterAll(async () => {
      await driver.close();
      await rm(stateDirectory, { recursive: true, force: true });
    });
    describe("RUN-1 isolation, tried from inside", () => insideTests(traits));
    describe("RUN-1 limits", () => limitTests(traits));
    describe("RUN-1 RUN-2 network", networkTests);
    endTests();
  });
}

async function python(code: string, change: Partial<SandboxSpec> = {}): Promise<{ exit: Exit; lines: string[] }> {
  const lines: string[] = [];
  const exit = await driver.run(
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
  return { exit, lines };
}

function insideTests({ visibleProcesses }: Traits): void {
  test("the self-test passes every required check here", async () => {
    const isolation = await driver.selfTest();
    expect(isolation.checks.filter((check) => check.required && !check.ok)).toEqual([]);
    expect(isolation.trusted).toBe(true);
  });

  test("an unprivileged user without capabilities, new privileges, groups or descriptors", async () => {
    const { lines } = await python(`
import ctypes, os
status = dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\\t" in line)
print(os.getuid() >= 10000, os.getgroups() == [] or 0 not in os.getgroups(), status["CapEff"], status["CapBnd"], ctypes.CDLL(None).prctl(39, 0, 0, 0, 0))
# 3 is the listing itself; what is masked is /dev/null.
print(sorted({os.readlink(f"/proc/self/fd/{n}") for n in os.listdir("/proc/self/fd") if int(n) > 2 and os.path.exists(f"/proc/self/fd/{n}")} - {"/dev/null", f"/proc/{os.getpid()}/fd"}))
`);
    expect(lines).toEqual(["True True 0000000000000000 0000000000000000 1", "[]"]);
  });

  test("no files of the host are visible or writable, mounted or not", async () => {
    const secret = join(stateDirectory, "secret");
    await writeFile(secret, "x");
    await chmod(secret, 0o600);
    const { lines } = await python(
      `
import os
def can(path, mode):
    try:
        open(path, mode); return True
    except OSError:
        return False
print([p for p in ["/mnt/secret", "/etc/shadow", "${secret}", "/root", *(["/proc/1/root/etc/passwd"] if os.getpid() != 1 else [])] if can(p, "rb")])
print([p for p in ["/x", "/usr/x", "/etc/passwd", "/mnt/secret", "/dev/x", "/proc/sys/kernel/hostname", "/opt/x"] if can(p, "ab")])
print(sorted(os.listdir("/")))`,
      root ? { mounts: [{ host: secret, inside: "/mnt/secret", writable: false }] } : {},
    );
    expect(lines.slice(0, 2)).toEqual(["[]", "[]"]);
    expect(lines[2]).not.toContain("'root'");
  });

  test("no processes of the host or of a neighbor are visible", async () => {
    const { lines } = await python(`
import os
print(sorted(int(n) for n in os.listdir("/proc") if n.isdigit()))
try:
    os.kill(${process.pid}, 0); print("signaled")
except OSError as error:
    print(error.strerror)`);
    expect(lines).toEqual([visibleProcesses, "No such process"]);
  });

  test("system calls that kernel exploits commonly use are refused", async () => {
    const { lines } = await python(`
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for name, call in [("unshare user", lambda: libc.unshare(0x10000000)), ("mount", lambda: libc.mount(b"x", b"/tmp", b"tmpfs", 0, None)), ("ptrace", lambda: libc.ptrace(0, 0, 0, 0)), ("keyctl", lambda: libc.syscall(250, 0, 0)), ("bpf", lambda: libc.syscall(321, 0, 0, 0))]:
    print(name, call(), ctypes.get_errno())
import threading; t = threading.Thread(target=lambda: print("threads work")); t.start(); t.join()`);
    expect(lines).toEqual([
      "unshare user -1 1",
      "mount -1 1",
      "ptrace -1 1",
      "keyctl -1 1",
      "bpf -1 1",
      "threads work",
    ]);
  });

  test.runIf(root)("a preloaded library of the tenant never runs as root", async () => {
    const { lines } = await python("import os; print(os.getuid() > 0, os.environ['LD_PRELOAD'])", {
      env: { LD_PRELOAD: "/tmp/none.so", HOME: "/home/towpath" },
    });
    expect(lines.at(-1)).toBe("True /tmp/none.so");
    // The loader complains once for each program that sees the variable: env's exec of Python only.
    expect(lines.filter((line) => line.includes("cannot be preloaded"))).toHaveLength(1);
  });
}

function limitTests({ withoutItsSocket }: Traits): void {
  test("the private /tmp is limited", async () => {
    const { lines } = await python(`
try:
    open("/tmp/x", "wb").write(b"x" * (4 << 20)); print("written")
except OSError as error:
    print(error.strerror)`);
    expect(lines).toEqual(["No space left on device"]);
  });

  test("the directory of the socket cannot fill the host's disk, and its socket cannot be redirected", async () => {
    const result = await driver.start(tinyServer.launch("serve", join(stateDirectory, "i1")), () => {});
    if (!result.ok) throw new Error("did not start");
    const { endpoint } = result.handle;
    if (root) expect(await tinyServer.get(endpoint, "/fill")).toBe("No space left on device");
    expect(await tinyServer.get(endpoint, "/replace-socket")).toBe("replaced");
    const answer = await tinyServer.get(endpoint);
    if (withoutItsSocket === null) expect(answer).toBeNull();
    else expect(answer).toMatch(withoutItsSocket);
    await result.handle.stop(1000);
  });
}

function networkTests(): void {
  const connect = (host: string, port: number) => `
import socket
s = socket.socket(); s.settimeout(3)
try:
    s.connect(("${host}", ${port})); print("connected")
except TimeoutError:
    print("silence")
except OSError:
    print("refused")`;

  test("without network there is only the sandbox's own loopback", async () => {
    const { lines } = await python("import socket; print([name for _, name in socket.if_nameindex()])");
    expect(lines).toEqual(["['lo']"]);
  });

  test("with network, loopback, addresses of the host, private ranges and abstract sockets are unreachable", async () => {
    const server = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const abstract = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => abstract.listen(`\0towpath-test-${process.pid}`, resolve));
    const own = hostAddresses().map((host) => ({ host, port: 1 }));
    const targets = [
      { host: "127.0.0.1", port },
      { host: "10.0.2.2", port },
      { host: "169.254.169.254", port: 80 },
      { host: "10.1.2.3", port: 80 },
      { host: "192.168.1.1", port: 80 },
      ...own,
    ];
    for (const target of targets) {
      const { lines } = await python(connect(target.host, target.port), { network: "internet" });
      // By a route, not by the silence of the other side.
      expect([target.host, ...lines]).toEqual([target.host, "refused"]);
    }
    const { lines } = await python(
      `import socket; s = socket.socket(socket.AF_UNIX)
try:
    s.connect("\\0towpath-test-${process.pid}"); print("connected")
except OSError: print("refused")`,
      { network: "internet" },
    );
    expect(lines).toEqual(["refused"]);
    server.close();
    abstract.close();
  });

  test("with network, names resolve and the internet answers, if the host has access to it", async (context) => {
    const onHost = await lookup("pypi.org").then(
      () => true,
      () => false,
    );
    if (!onHost) return context.skip();
    const { lines } = await python(connect("pypi.org", 443), { network: "internet" });
    expect(lines).toEqual(["connected"]);
  });
}

function endTests(): void {
  test("an identity gives the same user each time, so that a cache can be shared", async () => {
    const uid = async (identity?: string) => (await python("import os; print(os.getuid())", { identity })).lines[0];
    expect(await uid("organization 1")).toBe(await uid("organization 1"));
    if (root) {
      expect(await uid("organization 1")).not.toBe(await uid("organization 2"));
      expect(await uid()).not.toBe(await uid());
    }
  });

  test.runIf(root)("stopping leaves no process, control group, mount or network process behind", async () => {
    const directory = join(stateDirectory, "i2");
    const result = await driver.start(tinyServer.launch("serve", directory, { network: "internet" }), () => {});
    if (!result.ok) throw new Error("did not start");
    const before = leftovers(directory);
    expect(before.mounts).toBe(1);
    expect(before.slirp).toBeGreaterThan(0);
    await result.handle.stop(1000);
    expect(leftovers(directory)).toEqual({ mounts: 0, cgroups: 0, slirp: 0 });
  });
}

function leftovers(directory: string) {
  const children = execFileSync("/usr/bin/ps", ["--ppid", String(process.pid), "-o", "comm="], { encoding: "utf8" });
  const owner = new RegExp(`^${process.pid}-`);
  const groups = ["memory", "pids", "cpu", "unified"].flatMap((tree) => {
    try {
      return readdirSync(`/sys/fs/cgroup/${tree}/towpath`).filter((name) => owner.test(name));
    } catch {
      return [];
    }
  });
  return {
    mounts: readFileSync("/proc/self/mounts", "utf8").split(` ${directory} `).length - 1,
    cgroups: groups.length,
    slirp: children.split("\n").filter((name) => name.startsWith("slirp")).length,
  };
}
