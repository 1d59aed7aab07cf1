import { spawn } from "node:child_process";
import { readdirSync, readlinkSync } from "node:fs";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { shortDirectory } from "../../testing/short-directory.ts";
import { testLimits } from "../../testing/tiny-server.ts";
import { strictIsolation } from "../config.ts";
import type { Engine } from "../engine.ts";
import { createSandboxEngine } from "./engine.ts";

const root = process.getuid?.() === 0;
let stateDirectory = "";
let driver: Engine;

beforeAll(async () => {
  stateDirectory = await shortDirectory();
  driver = createSandboxEngine({ ...strictIsolation, stateDirectory: stateDirectory });
});
afterAll(async () => {
  await driver.close();
  await rm(stateDirectory, { recursive: true, force: true });
});

describe("sockets and packets, tried from inside", () => {
  test("RUN-1 sockets: unix, inet, inet6 and netlink for routes; no other family can be created", async () => {
    const { lines } = await python(`
import errno, socket
AF = dict(UNIX=1, INET=2, AX25=3, IPX=4, APPLETALK=5, INET6=10, KEY=15, PACKET=17, RDS=21, PPPOX=24, CAN=29, TIPC=30,
    BLUETOOTH=31, RXRPC=33, PHONET=35, CAIF=37, ALG=38, NFC=39, VSOCK=40, KCM=41, QIPCRTR=42, SMC=43, XDP=44, MCTP=45)
made, other = [], set()
for name, family in AF.items():
    for kind in (1, 2, 3, 5):
        try:
            socket.socket(family, kind).close(); made.append(name); break
        except OSError as error:
            if name not in ("UNIX", "INET", "INET6"): other.add(errno.errorcode[error.errno])
print(made, sorted(other))
netlink = []
for protocol in range(23):
    try:
        socket.socket(16, 3, protocol).close(); netlink.append(protocol)
    except OSError: pass
print(netlink, [name for _, name in socket.if_nameindex()], socket.getaddrinfo("localhost", 1)[0][4][0])`);
    expect(lines).toEqual(["['UNIX', 'INET', 'INET6'] ['EAFNOSUPPORT']", "[0] ['lo'] 127.0.0.1"]);
  });

  test.runIf(root)("RUN-2 with network: choosing the interface gets no packet out to a closed range", async () => {
    const packets = await packetsOf(`
import socket, struct, time
index = socket.if_nametoindex("tap0")
def attempt(target, prepare, auxiliary=[]):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    try:
        prepare(s)
        s.sendmsg([b"x"], auxiliary, 0, (target, 9))
        print("sent to", target)
    except OSError: pass
interface = lambda s: s.setsockopt(0, socket.IP_MULTICAST_IF, struct.pack("4s4si", bytes(4), bytes(4), index))
device = lambda s: s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"tap0")
address = lambda s: s.bind(("10.0.2.100", 0))
nothing = lambda s: None
for target in ("224.0.0.251", "239.255.255.250", "255.255.255.255", "169.254.169.254", "192.168.1.1", "10.1.2.3"):
    for prepare in (interface, device, address): attempt(target, prepare)
    attempt(target, nothing, [(0, 8, struct.pack("i4s4s", index, bytes(4), bytes(4)))])
# What must leave, so that the watching is seen to work.
attempt("10.0.2.3", nothing)
time.sleep(0.5)`);
    expect(packets).toEqual({ lines: ["sent to 10.0.2.3"], destinations: ["10.0.2.3"] });
  });
});

async function python(code: string): Promise<{ lines: string[] }> {
  const lines: string[] = [];
  const argv: [string, ...string[]] = ["/usr/bin/python3", "-c", code];
  const shape = { argv, env: {}, workingDirectory: "/tmp", mounts: [], limits: testLimits, network: "none" } as const;
  const limits = { timeoutMs: 20_000, outputBytes: 100_000 };
  await driver.run(shape, { ...limits, onOutput: (_, line) => lines.push(line) });
  return { lines };
}

/**
 * Runs code in a sandbox with network and returns the IPv4 addresses and ARP targets of packets that left its
 * interface.
 */
async function packetsOf(code: string): Promise<{ lines: string[]; destinations: string[] }> {
  const directory = await mkdtemp(join(stateDirectory, "go-"));
  await chmod(directory, 0o777);
  const mounts = [{ host: directory, inside: "/mnt/go", writable: false }];
  const waiting = `import os, time\nprint(os.readlink("/proc/self/ns/net"), flush=True)
while not os.path.exists("/mnt/go/now"): time.sleep(0.01)\n`;
  const lines: string[] = [];
  const running = driver.run(
    {
      argv: ["/usr/bin/python3", "-c", waiting + code],
      env: {},
      workingDirectory: "/tmp",
      mounts,
      limits: testLimits,
      network: "internet",
    },
    { timeoutMs: 20_000, outputBytes: 100_000, onOutput: (_, line) => lines.push(line) },
  );
  await expect.poll(() => lines[0], { timeout: 10_000 }).toMatch(/^net:/);
  const watcher = spawn("/usr/bin/nsenter", [
    `--net=${namespacePath(lines[0] ?? "")}`,
    "/usr/bin/python3",
    "-uc",
    watch,
  ]);
  let seen = "";
  watcher.stdout.on("data", (chunk: Buffer) => {
    seen += chunk.toString("utf8");
  });
  await expect.poll(() => seen, { timeout: 10_000 }).toContain("watching");
  await writeFile(join(directory, "now"), "");
  await running;
  watcher.kill("SIGKILL");
  return { lines: lines.slice(1), destinations: [...new Set(seen.trim().split("\n").slice(1))] };
}

const watch = `
import socket
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
s.bind(("tap0", 3))
print("watching")
while True:
    frame, (_, protocol, kind, *_) = s.recvfrom(65535)
    if kind != 4: continue
    if protocol == 0x0800: print(socket.inet_ntoa(frame[30:34]))
    if protocol == 0x0806: print(socket.inet_ntoa(frame[38:42]))`;

/** Where the host sees a network namespace, by the name that a process inside reads ("net:[123]"). */
function namespacePath(name: string): string {
  const pid = readdirSync("/proc").find((each) => {
    try {
      return /^\d+$/.test(each) && readlinkSync(`/proc/${each}/ns/net`) === name;
    } catch {
      return false;
    }
  });
  return `/proc/${pid}/ns/net`;
}
