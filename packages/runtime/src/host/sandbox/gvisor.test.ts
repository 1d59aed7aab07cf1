import { rm } from "node:fs/promises";
import { expect, test } from "vitest";
import { shortDirectory } from "../../testing/short-directory.ts";
import { testLimits } from "../../testing/tiny-server.ts";
import { sandboxSettings, strictIsolation } from "../config.ts";
import type { SandboxSpec } from "../engine.ts";
import { type SandboxPlan, sandboxCommand } from "./arguments.ts";
import { createSandboxEngine } from "./engine.ts";
import { gvisorConfig, gvisorLimits } from "./gvisor.ts";
import { type HostFacts, inspectHost } from "./host.ts";

const identity = { uid: 1_900_000_000, gid: 1_900_000_000 };
const plan = { identity, home: "/home/towpath", openFiles: 4096 };
const spec: SandboxSpec = {
  argv: ["/opt/python/bin/python3", "--flag", "a b"],
  env: { TOKEN: "secret value", HOME: "/home/towpath", LD_PRELOAD: "/app/src/evil.so" },
  workingDirectory: "/app/src",
  mounts: [
    { host: "/data/dependencies", inside: "/app/.venv", writable: false },
    { host: "/data/code", inside: "/app/layer", writable: false, filledLater: true },
    { host: "/data/run", inside: "/run/towpath", writable: true },
  ],
  scratch: ["/app/src"],
  limits: { memoryBytes: 1000, processes: 7, cpus: 1, tmpBytes: 4096, fileBytes: 512 },
  network: "none",
};
const host: HostFacts = {
  ...inspectHost(),
  root: true,
  tools: { ...inspectHost().tools, bwrap: "/usr/bin/bwrap", runsc: "/usr/bin/runsc" },
};
const sandboxPlan: SandboxPlan = {
  kernel: "gvisor",
  identity,
  network: "none",
  withoutCgroup: { memory: false, processes: false },
  hostResolver: "",
};

test("RUN-1 gVisor gets a command with its own user, no capability, and a root that it can't write", () => {
  const { process, root, mounts, linux } = gvisorConfig(spec, plan);
  expect(process).toEqual({
    user: identity,
    args: spec.argv,
    env: ["TOKEN=secret value", "HOME=/home/towpath", "LD_PRELOAD=/app/src/evil.so", "PWD=/app/src"],
    cwd: "/app/src",
    capabilities: {},
    noNewPrivileges: true,
    rlimits: [
      { type: "RLIMIT_CORE", hard: 0, soft: 0 },
      { type: "RLIMIT_NOFILE", hard: 4096, soft: 4096 },
      { type: "RLIMIT_FSIZE", hard: 512, soft: 512 },
    ],
  });
  expect(root).toEqual({ path: "/", readonly: true });
  const memory = ["nosuid", "nodev", "mode=1777", "size=4096"];
  expect(
    mounts.map(({ destination, type, ...more }) => [destination, type, "options" in more && more.options]),
  ).toEqual([
    ["/proc", "proc", false],
    ["/dev", "tmpfs", false],
    ["/dev/shm", "tmpfs", memory],
    ["/tmp", "tmpfs", memory],
    ["/app/src", "tmpfs", memory],
    ["/home/towpath", "bind", ["rbind", "rw"]],
    ["/app/layer", "bind", ["rbind", "ro"]],
    ["/run/towpath", "bind", ["rbind", "rw"]],
  ]);
  expect(linux.namespaces.map(({ type }) => type)).toEqual(["pid", "ipc", "uts", "mount"]);
  const refused = linux.seccomp.syscalls.flatMap(({ names }) => names);
  for (const name of ["mount", "ptrace", "setns", "unshare"]) expect(refused).toContain(name);
});

test("RUN-4 a command without HOME gets none from runsc", () => {
  const { process } = gvisorConfig({ ...spec, env: {} }, plan);
  expect(process.args).toEqual(["/usr/bin/env", "-u", "HOME", "--", ...spec.argv]);
});

test("RUN-1 bubblewrap makes what gVisor sees, and passes its configuration where nobody can read it", () => {
  const { argv, options, data } = sandboxCommand(spec, host, sandboxPlan);
  for (const option of ["ipc", "pid", "uts", "net"]) expect(options).toContain(`--unshare-${option}`);
  const text = options.join("\n");
  expect(text).toContain("--ro-bind\n/data/dependencies\n/app/.venv");
  expect(text).toContain("--perms\n0700\n--tmpfs\n/run/gvisor");
  expect([...argv, ...options].join(" ")).not.toContain("secret value");
  expect(data.at(-1)).toBe(JSON.stringify(gvisorConfig(spec, plan)));
  expect(argv).toEqual(expect.arrayContaining(["/usr/bin/runsc", "--network=none"]));
  expect(argv).not.toContain("/opt/python/bin/python3");
});

test("RUN-2 with a network gVisor sends through the namespace whose routes and policies close ranges", () => {
  expect(sandboxCommand(spec, host, { ...sandboxPlan, network: "slirp" }).argv).toContain("--network=host");
  expect(sandboxCommand(spec, host, { ...sandboxPlan, network: "slirp" }).options).toContain("--unshare-net");
});

test("RUN-1 a sandbox's processes are limited, with room for gVisor's own threads; its memory has no more", () => {
  expect(gvisorLimits(spec.limits)).toEqual({ ...spec.limits, processes: 106 });
});

test("RUN-1 TOWPATH_ISOLATION names one of two", () => {
  const { TOWPATH_ISOLATION: setting } = sandboxSettings;
  expect([setting.parse(undefined), setting.parse("gvisor")]).toEqual(["bubblewrap", "gvisor"]);
  expect(() => setting.parse("docker")).toThrow("must be bubblewrap or gvisor");
});

test.each([
  ["without runsc", { tools: { ...host.tools, runsc: null } }],
  ["for an ordinary user", { root: false }],
])("RUN-1 gVisor is refused %s, with the remedy, and nothing runs in less", async (_, change) => {
  const stateDirectory = await shortDirectory();
  const engine = createSandboxEngine({
    ...strictIsolation,
    kernel: "gvisor",
    stateDirectory,
    host: { ...host, ...change },
  });
  const command = {
    argv: ["/usr/bin/id"] as [string],
    env: {},
    workingDirectory: "/tmp",
    mounts: [],
    limits: testLimits,
  };
  const options = { timeoutMs: 5000, outputBytes: 1000, onOutput: () => {} };
  await expect(engine.run({ ...command, network: "none" }, options)).rejects.toMatchObject({
    code: "isolation_unavailable",
    message: expect.stringContaining("apt-get install runsc"),
  });
  expect(await engine.selfTest()).toMatchObject({ isolatedBy: "none", trusted: false, refuses: true });
  await engine.close();
  await rm(stateDirectory, { recursive: true, force: true });
});
