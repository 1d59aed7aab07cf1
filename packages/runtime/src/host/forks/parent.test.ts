import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { shortDirectory } from "../../testing/short-directory.ts";
import { testLimits } from "../../testing/tiny-server.ts";
import { strictIsolation } from "../config.ts";
import type { Engine } from "../engine.ts";
import { createSandboxEngine } from "../sandbox/engine.ts";
import { forkMount } from "./enter-users.ts";

const root = process.getuid?.() === 0;
let stateDirectory = "";
let engine: Engine;

beforeAll(async () => {
  stateDirectory = await shortDirectory();
  engine = createSandboxEngine({ ...strictIsolation, stateDirectory });
});
afterAll(async () => {
  await engine.close();
  await rm(stateDirectory, { recursive: true, force: true });
});

/** Runs Python as what forks. */
async function python(code: string, host: readonly string[] = []): Promise<string[]> {
  const lines: string[] = [];
  await engine.run(
    {
      argv: ["/usr/bin/python3", "-c", code],
      env: {},
      workingDirectory: "/tmp",
      mounts: [forkMount, ...host.map((path) => ({ host: path, inside: "/mnt/file", writable: false }))],
      limits: testLimits,
      network: "none",
      forks: { python: ["/usr/bin/python3"] },
    },
    { timeoutMs: 20_000, outputBytes: 100_000, onOutput: (_, line) => lines.push(line) },
  );
  return lines;
}

describe.runIf(root)("RUN-1 an interpreter that forks, tried from inside", () => {
  test("is root of its own users only, with five capabilities there", async () => {
    const lines = await python(`
import os
status = dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\\t" in line)
print(os.getuid(), os.getgroups(), *(hex(int(status[name], 16)) for name in ("CapEff", "CapPrm", "CapBnd", "CapInh", "CapAmb")), status["NoNewPrivs"], status["Seccomp"])
first, start, count = open("/proc/self/uid_map").read().split()
print(first, int(start) >= 1_879_048_192, count)
for uid in (65_535, 65_536):
    try:
        os.setresuid(uid, uid, uid); print("became", uid)
    except OSError as error:
        print(error.strerror)`);
    // SETGID, SETUID, SETPCAP, SYS_CHROOT, SYS_ADMIN.
    expect(lines).toEqual([
      "0 [] 0x2401c0 0x2401c0 0x2401c0 0x0 0x0 1 2",
      "0 True 65536",
      "became 65535",
      "Invalid argument",
    ]);
  });

  test("reads and changes nothing of the host, and sees none of its processes", async () => {
    const secret = join(stateDirectory, "secret");
    await writeFile(secret, "x", { mode: 0o600 });
    const lines = await python(
      `
import os
def can(path, mode):
    try:
        open(path, mode); return True
    except OSError:
        return False
print([p for p in ["/mnt/file", "/etc/shadow", "${secret}", "/root", "/proc/1/environ", "/proc/1/root/etc/passwd"] if can(p, "rb")])
print([p for p in ["/x", "/usr/x", "/etc/passwd", "/mnt/file", "/dev/x", "/opt/x", "/proc/sys/kernel/hostname", "/proc/sys/kernel/core_pattern", "/opt/towpath-fork/towpath_fork/kernel.py"] if can(p, "ab")])
print(all(int(pid) < 20 for pid in os.listdir("/proc") if pid.isdigit()))
try:
    os.kill(${process.pid}, 0); print("signaled")
except OSError as error:
    print(error.strerror)`,
      [secret],
    );
    expect(lines).toEqual(["[]", "[]", "True", "No such process"]);
  });

  test("may call setns beyond what servers may call, and nothing else", async () => {
    const lines = await python(`
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def tried(name, *arguments):
    ctypes.set_errno(0)
    print(name, getattr(libc, name)(*arguments), ctypes.get_errno())
tried("mount", b"x", b"/tmp", b"tmpfs", 0, None)
tried("mount", b"/usr", b"/tmp", b"", 4096, None)
tried("umount2", b"/tmp", 2)
tried("chroot", b"/tmp")
for flag in (0x10000000, 0x20000, 0x20000000, 0x40000000, 0x8000000, 0x4000000, 0x2000000, 0x80):
    tried("unshare", flag)
print("clone", libc.syscall(56, 0x20000 | 17, 0, 0, 0, 0), ctypes.get_errno())
tried("ptrace", 0, 0, 0, 0)
for number in (155, 428, 429, 430, 246, 321, 250, 304):
    ctypes.set_errno(0)
    print(number, libc.syscall(number, 0, 0, 0, 0, 0), ctypes.get_errno())
tried("sethostname", b"x", 1)
tried("setns", os.open("/proc/self/ns/mnt", os.O_RDONLY), 0)
for kind in ("net", "pid", "ipc", "uts"):
    # They belong to the host's users, as its sandbox does.
    tried("setns", os.open("/proc/self/ns/" + kind, os.O_RDONLY), 0)`);
    expect(lines).toEqual([
      ...["mount -1 1", "mount -1 1", "umount2 -1 1", "chroot -1 1"],
      ...Array<string>(8).fill("unshare -1 1"),
      ...["clone -1 1", "ptrace -1 1"],
      ...[155, 428, 429, 430, 246, 321, 250, 304].map((number) => `${number} -1 1`),
      "sethostname -1 1",
      "setns 0 0",
      ...["net", "pid", "ipc", "uts"].map(() => "setns -1 1"),
    ]);
  });
});
