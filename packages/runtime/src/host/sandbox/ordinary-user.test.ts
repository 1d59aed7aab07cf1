import { execFile, spawn } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, readFileSync, rmdirSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isThorough } from "../../../../../tests/thorough.ts";
import { shortDirectory } from "../../testing/short-directory.ts";
import { changedCode } from "../../testing/tiny-server.ts";
import { processTree } from "../process/tree.ts";
import { cgroupMounts } from "./cgroup-layout.ts";
import { hostAddresses } from "./network.ts";

const root = process.getuid?.() === 0;
const nobody = 65_534;
const program = (name: string) => new URL(`../../testing/${name}.ts`, import.meta.url).pathname;
let directory = "";
let servers: Server[] = [];

beforeEach(async () => {
  directory = await shortDirectory();
  chmodSync(directory, 0o777);
});
afterEach(async () => {
  for (const server of servers) server.close();
  servers = [];
  await rm(directory, { recursive: true, force: true });
});

/** The command that runs one of our programs as an ordinary user. */
const asUser = (name: string, ...argv: string[]): [string, string[]] => [
  "/usr/bin/unshare",
  ["--mount", "--", process.execPath, program("as-ordinary-user"), directory, process.execPath, program(name), ...argv],
];

function selfTest(...argv: string[]): Promise<ReturnType<typeof JSON.parse>> {
  const [file, rest] = asUser("self-test-process", directory, ...argv);
  return new Promise((resolve, reject) => {
    execFile(file, rest, { timeout: 25_000 }, (error, stdout, stderr) =>
      stdout === "" ? reject(error ?? new Error(stderr)) : resolve(JSON.parse(stdout)),
    );
  });
}

async function listen(host: string): Promise<number> {
  const server = createServer((socket) => socket.destroy());
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

describe.runIf(root)("a platform of an ordinary user", () => {
  test("RUN-1 BLD-19 isolates by a user namespace; a server changes a copy of its code", async () => {
    const report = await selfTest();
    expect(report).toMatchObject({ uid: nobody, served: "hello from 2", frozen: true });
    const freezer = { name: "freezer", ok: false, required: false, detail: "SIGSTOP instead" };
    expect(report.isolation).toMatchObject({ trusted: true, checks: expect.arrayContaining([freezer]) });
    expect(JSON.parse(report.changed)).toEqual(changedCode);
  });

  test.runIf(isThorough)(
    "RUN-2 gives servers a network that reaches the internet, but neither the host nor private ranges",
    async () => {
      const [own] = hostAddresses();
      if (own === undefined) throw new Error("this host has no address");
      const loopback = await listen("127.0.0.1");
      const targets = [
        [own, await listen(own)],
        ["127.0.0.1", loopback],
        ["10.0.2.2", loopback],
        ["169.254.169.254", 80],
        ["192.168.1.1", 80],
        ["10.1.2.3", 80],
      ];
      const code = `
import socket
print([name for _, name in socket.if_nameindex()])
for host, port in ${JSON.stringify(targets)}:
    try:
        socket.create_connection((host, port), 3); print("reached", host)
    except OSError as error: print(type(error).__name__, host)
try:
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(("10.0.2.100", 0)); s.sendto(b"x", ("239.1.2.3", 9)); print("sent")
except OSError as error: print(type(error).__name__)
status = dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\\t" in line)
print(status["CapEff"], status["CapBnd"])`;
      const open = await selfTest(code, `${own}/32`);
      const checks: { name: string; ok: boolean }[] = open.isolation.checks;
      expect(checks.find((check) => check.name === "own network")).toMatchObject({ ok: true });
      const refused = ["127.0.0.1", "10.0.2.2", "169.254.169.254", "192.168.1.1", "10.1.2.3"];
      expect(open.lines).toEqual([
        "['lo', 'tap0']",
        // The one range that is open here: packets do leave.
        `reached ${own}`,
        ...refused.map((host) => expect.stringMatching(`^(PermissionError|ConnectionRefusedError|OSError) ${host}$`)),
        "PermissionError",
        "0000000000000000 0000000000000000",
      ]);
    },
  );

  test("RUN-1 kill -9 of the platform leaves no process of a server or its network", async () => {
    const [file, argv] = asUser("platform-process", directory, "running");
    const platform = spawn(file, argv, { stdio: ["ignore", "pipe", "inherit"] });
    await new Promise<void>((resolve, reject) => {
      platform.stdout.on("data", (chunk: Buffer) => chunk.toString().includes("started") && resolve());
      platform.once("exit", (code) => reject(new Error(`the platform process ended with ${code}`)));
    });
    const pid = platform.pid ?? 0;
    const everything = (await processTree(pid)).filter((each) => each !== pid);
    // bubblewrap three times, the server, slirp4netns, the holder of the namespaces
    expect(everything.length).toBeGreaterThanOrEqual(5);
    platform.kill("SIGKILL");
    await expect.poll(() => everything.filter(alive)).toEqual([]);
  });

  test.runIf(isThorough)("RUN-1 uses delegated control groups", async (context) => {
    const tree = cgroupMounts(readFileSync("/proc/self/mounts", "utf8")).find((each) => each.type === "cgroup2");
    if (tree === undefined) return context.skip();
    const group = `${tree.path}/delegated-${process.pid}`;
    mkdirSync(group);
    try {
      for (const name of ["", "/cgroup.procs", "/cgroup.subtree_control"]) chownSync(group + name, nobody, nobody);
      const delegated = spawn(...asUser("self-test-process", directory), { stdio: ["ignore", "pipe", "inherit"] });
      await writeFile(`${group}/cgroup.procs`, String(delegated.pid));
      let text = "";
      for await (const chunk of delegated.stdout) text += chunk;
      const { isolation, frozen } = JSON.parse(text);
      expect(frozen).toBe(true);
      const freezer = isolation.checks.find((check: { name: string }) => check.name === "freezer");
      expect(freezer).toMatchObject({ ok: true });
    } finally {
      await expect.poll(() => removed(group)).toBe(true);
    }
  });
});

/** Whether a group and our directories in it are gone. */
function removed(group: string): boolean {
  for (const path of [`${group}/towpath`, `${group}/towpath-platform`, group]) {
    try {
      rmdirSync(path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") return false;
    }
  }
  return true;
}

function alive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
