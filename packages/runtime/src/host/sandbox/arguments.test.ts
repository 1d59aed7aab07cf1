import { expect, test } from "vitest";
import type { SandboxSpec } from "../engine.ts";
import { type SandboxPlan, sandboxCommand } from "./arguments.ts";
import type { HostFacts } from "./host.ts";

const host: HostFacts = {
  root: true,
  architecture: "x64",
  tools: {
    bwrap: "/usr/bin/bwrap",
    setpriv: "/usr/bin/setpriv",
    prlimit: "/usr/bin/prlimit",
    slirp4netns: null,
    nsenter: null,
    ip: null,
    runsc: "/usr/bin/runsc",
  },
  links: [{ path: "/bin", target: "usr/bin" }],
  directories: ["/lib64"],
  etc: ["/etc/ssl/certs"],
};
const plan: SandboxPlan = {
  kernel: "host",
  identity: { uid: 1_900_000_000, gid: 1_900_000_000 },
  network: "none",
  withoutCgroup: { memory: false, processes: false },
  hostResolver: "",
};
const spec: SandboxSpec = {
  argv: ["/opt/python/bin/python3", "--flag", "a b"],
  env: { TOKEN: "secret value", LD_PRELOAD: "/app/src/evil.so" },
  workingDirectory: "/app/src",
  mounts: [
    { host: "/data/code", inside: "/app/src", writable: false },
    { host: "/data/--odd 'dir'", inside: "/app", writable: false },
    { host: "/data/run", inside: "/run/towpath", writable: true },
  ],
  limits: { memoryBytes: 1000, processes: 7, cpus: 1, tmpBytes: 4096 },
  network: "none",
};

test("RUN-1 as root, all namespaces are unshared, and the command has its own user and no capability", () => {
  const { file, argv, options } = sandboxCommand(spec, host, plan);
  expect(file).toBe("/usr/bin/bwrap");
  expect(argv).toEqual([
    "--args",
    "3",
    "--",
    "/usr/bin/prlimit",
    "--core=0",
    "--nofile=4096",
    "--",
    "/usr/bin/setpriv",
    "--reuid=1900000000",
    "--regid=1900000000",
    "--clear-groups",
    "--no-new-privs",
    "--inh-caps=-all",
    "--ambient-caps=-all",
    "--bounding-set=-all",
    "--",
    "/usr/bin/env",
    "--",
    "LD_PRELOAD=/app/src/evil.so",
    "/opt/python/bin/python3",
    "--flag",
    "a b",
  ]);
  for (const option of ["ipc", "pid", "uts", "net"]) expect(options).toContain(`--unshare-${option}`);
  for (const option of ["--new-session", "--die-with-parent", "--clearenv"]) expect(options).toContain(option);
});

test("RUN-1 programs that run as root don't see variables that affect the loader", () => {
  const { options } = sandboxCommand(spec, host, plan);
  expect(options).not.toContain("LD_PRELOAD");
  expect(options.slice(options.indexOf("--setenv"), options.indexOf("--setenv") + 3)).toEqual([
    "--setenv",
    "TOKEN",
    "secret value",
  ]);
});

test("arguments, which other processes can read, contain no secrets or paths of the host", () => {
  const { argv } = sandboxCommand(spec, host, plan);
  expect(argv.join(" ")).not.toContain("secret value");
  expect(argv.join(" ")).not.toContain("/data/");
});

test("outer mounts come first, with accessible parents, and the root becomes read-only at the end", () => {
  const { options } = sandboxCommand(spec, host, plan);
  const text = options.join("\n");
  expect(text.indexOf("--ro-bind\n/data/--odd 'dir'\n/app")).toBeLessThan(
    text.indexOf("--ro-bind\n/data/code\n/app/src"),
  );
  expect(text).toContain("--bind\n/data/run\n/run/towpath");
  expect(text.indexOf("--remount-ro\n/\n")).toBeGreaterThan(text.indexOf("/data/run"));
  expect(text).toContain("--ro-bind\n/lib64\n/lib64");
  expect(text).toContain("--symlink\nusr/bin\n/bin");
});

test("without root there is a user namespace without nested ones, and no setpriv", () => {
  const { argv, options } = sandboxCommand(
    spec,
    { ...host, root: false },
    { ...plan, identity: { uid: 10_001, gid: 10_001 } },
  );
  expect(options.slice(0, 6)).toEqual(["--unshare-user", "--disable-userns", "--uid", "10001", "--gid", "10001"]);
  expect(argv).not.toContain("/usr/bin/setpriv");
  expect(options).toContain("LD_PRELOAD");
});

test("limits that no cgroup enforces become limits of the process", () => {
  const { argv } = sandboxCommand(spec, host, { ...plan, withoutCgroup: { memory: true, processes: true } });
  expect(argv).toContain("--data=1000");
  expect(argv).toContain("--nproc=7");
});

test("only the host's network leaves the namespace shared", () => {
  expect(sandboxCommand(spec, host, { ...plan, network: "slirp" }).options).toContain("--unshare-net");
  expect(sandboxCommand(spec, host, { ...plan, network: "host" }).options).not.toContain("--unshare-net");
});

test.each([
  ["a NUL in a value, which would begin another option", { env: { A: "x\0--bind\0/\0/host" } }],
  ["a NUL in an argument", { argv: ["/bin/true", "\0"] as [string, string] }],
  ["a NUL in a path", { mounts: [{ host: "/a\0b", inside: "/a", writable: false }] }],
  ["a name with =", { env: { "A=B": "x" } }],
  ["an empty name", { env: { "": "x" } }],
  ["a mount that climbs", { mounts: [{ host: "/a", inside: "/app/../etc", writable: false }] }],
  ["a relative mount", { mounts: [{ host: "a", inside: "/a", writable: false }] }],
  ["a relative working directory", { workingDirectory: "app" }],
])("refused: %s", (_, change) => {
  expect(() => sandboxCommand({ ...spec, ...change }, host, plan)).toThrowError(
    expect.objectContaining({ code: "invalid_spec" }),
  );
});
