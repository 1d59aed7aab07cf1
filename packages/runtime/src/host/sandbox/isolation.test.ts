import { execFileSync } from "node:child_process";
import { lookup } from "node:dns/promises";
import { readdirSync, readFileSync } from "node:fs";
import { chmod, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Exit } from "../../port/execution.ts";
import { shortDirectory } from "../../testing/short-directory.ts";
import { testLimits, tinyServer } from "../../testing/tiny-server.ts";
import { strictIsolation } from "../config.ts";
import type { Engine, SandboxSpec } from "../engine.ts";
import { spawnPlain } from "../process/plain.ts";
import { createSandboxEngine } from "./engine.ts";
import { inspectHost } from "./host.ts";
import { hostAddresses } from "./network.ts";
import { probeIsolation } from "./self-test.ts";

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

describe("RUN-1 isolation, tried from inside", () => {
  test("the self-test passes every required check here", async () => {
    const isolation = await driver.selfTest();
    expect(isolation.checks.filter((check) => check.required && !check.ok)).toEqual([]);
    expect(isolation.trusted).toBe(true);
  });

  test("the self-test detects missing isolation", async () => {
    const checks = await probeIsolation((spec, reader) => spawnPlain(spec, reader), stateDirectory, "none");
    const failed = checks.filter((check) => !check.ok).map((check) => check.name);
    expect(failed).toEqual(expect.arrayContaining(["no host processes", "no host sockets"]));
    if (root) expect(failed).toEqual(expect.arrayContaining(["unprivileged user", "no capabilities", "no host files"]));
  });

  test("an unprivileged user without capabilities, new privileges, groups or descriptors", async () => {
    const { lines } = await python(`
import os
status = dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\\t" in line)
print(os.getuid() >= 10000, os.getgroups() == [] or 0 not in os.getgroups(), status["CapEff"], status["CapBnd"], status["NoNewPrivs"])
# 3 is the listing itself; what is masked is /dev/null.
print(sorted({os.readlink(f"/proc/self/fd/{n}") for n in os.listdir("/proc/self/fd") if int(n) > 2 and os.path.exists(f"/proc/self/fd/{n}")} - {"/dev/null", "/proc/2/fd"}))
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
print([p for p in ["/mnt/secret", "/etc/shadow", "${secret}", "/root", "/proc/1/root/etc/passwd"] if can(p, "rb")])
print([p for p in ["/x", "/usr/x", "/etc/passwd", "/mnt/secret", "/dev/x", "/proc/sys/kernel/hostname", "/opt/x"] if can(p, "ab")])
print(sorted(os.listdir("/")), os.listdir("/sys") if os.path.exists("/sys") else "no sys")`,
      root ? { mounts: [{ host: secret, inside: "/mnt/secret", writable: false }] } : {},
    );
    expect(lines.slice(0, 2)).toEqual(["[]", "[]"]);
    expect(lines[2]).not.toContain("'root'");
    expect(lines[2]).toContain("no sys");
  });

  test("no processes of the host or of a neighbor are visible", async () => {
    const { lines } = await python(`
import os
print(sorted(int(n) for n in os.listdir("/proc") if n.isdigit()))
try:
    os.kill(${process.pid}, 0); print("signaled")
except OSError as error:
    print(error.strerror)`);
    expect(lines).toEqual(["[1, 2]", "No such process"]);
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
      env: { LD_PRELOAD: "/tmp/none.so" },
    });
    expect(lines.at(-1)).toBe("True /tmp/none.so");
    // The loader complains once for each program that sees the variable: env's exec of Python only.
    expect(lines.filter((line) => line.includes("cannot be preloaded"))).toHaveLength(1);
  });
});

describe("RUN-1 limits", () => {
  test("processes, threads and the private /tmp are limited", async () => {
    const { lines } = await python(`
import os, threading, time
started = 0
try:
    for _ in range(200):
        threading.Thread(target=time.sleep, args=(2,), daemon=True).start(); started += 1
except RuntimeError:
    pass
print(0 < started < 40)
try:
    open("/tmp/x", "wb").write(b"x" * (4 << 20)); print("written")
except OSError as error:
    print(error.strerror)`);
    expect(lines).toEqual(["True", "No space left on device"]);
  });

  test("the directory of the socket cannot fill the host's disk, and its socket cannot be redirected", async () => {
    const result = await driver.start(tinyServer.launch("serve", join(stateDirectory, "i1")), () => {});
    if (!result.ok) throw new Error("did not start");
    const { endpoint } = result.handle;
    if (root) expect(await tinyServer.get(endpoint, "/fill")).toBe("No space left on device");
    expect(await tinyServer.get(endpoint, "/replace-socket")).toBe("replaced");
    expect(await tinyServer.get(endpoint)).toMatch(/^hello/);
    await result.handle.stop(1000);
  });
});

describe("RUN-1 RUN-2 network", () => {
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

  test.runIf(root)(
    "RUN-2 the network of a sandbox unmounts nothing that this host shares with namespaces",
    async () => {
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
    },
  );
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
