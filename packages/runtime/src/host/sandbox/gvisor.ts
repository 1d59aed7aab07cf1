import type { Limits } from "../../port/execution.ts";
import type { SandboxSpec } from "../engine.ts";
import type { Identity, NetworkPlan } from "./arguments.ts";
import { ociSeccomp } from "./seccomp.ts";

// gVisor's kernel runs inside of what bubblewrap makes: its root is bubblewrap's, its network is the namespace that
// slirp4netns joins, and both end together. So one description of files and networks serves both, and who breaks out
// of gVisor is still in bubblewrap's namespaces, without a capability.

/** Its configuration and state, in memory; in the sandbox only root could look into it, and nobody is root there. */
const directory = "/run/gvisor";

/** What runsc needs to set up the two processes that serve the sandbox; it drops them before the command runs. */
export const gvisorCapabilities = [
  "CAP_CHOWN",
  "CAP_DAC_OVERRIDE",
  "CAP_DAC_READ_SEARCH",
  "CAP_FOWNER",
  "CAP_FSETID",
  "CAP_SETGID",
  "CAP_SETPCAP",
  "CAP_SETUID",
  "CAP_SYS_ADMIN",
  "CAP_SYS_CHROOT",
  "CAP_SYS_PTRACE",
] as const;

/** runsc uses numbers from 256 on for descriptors of its own, and fails if one is taken, as by those that mask inherited ones. */
const closingInherited =
  'cd /proc/self/fd; for fd in *; do if [ "$fd" -gt 2 ]; then exec {fd}>&-; fi; done; cd /; exec "$@"';

/**
 * The call of runsc, which waits for the command, passes signals on to it and ends as it ends. Its platform is the
 * release's default. With a network it uses the namespace's through the host's kernel, because its own network stack
 * sends frames past the routes and policies that close ranges. Pure.
 */
export function runscCommand(runsc: string, network: NetworkPlan): string[] {
  return [
    "/bin/bash",
    "-c",
    closingInherited,
    "runsc",
    runsc,
    `--root=${directory}/state`,
    `--network=${network === "none" ? "none" : "host"}`,
    // bubblewrap's first process is in them already, and so is everything below it.
    "--ignore-cgroups",
    // A server listens on a socket in a directory of the host. With `create` alone it couldn't change the socket's mode.
    "--host-uds=all",
    "--overlay2=none",
    "--oci-seccomp",
    "run",
    `--bundle=${directory}`,
    "sandbox",
  ];
}

/** Threads of runsc and its two processes: an idle sandbox has forty. */
const ownThreads = 64;
/** Those of the host that serve one process of the sandbox; its threads are gVisor's and cost none. */
const threadsOfEach = 6;

/**
 * The limits of a sandbox's control groups, where gVisor's own threads and memory count too. Memory isn't raised: what
 * gVisor takes, the command hasn't. A process too many ends the sandbox, because gVisor doesn't survive a refusal. Pure.
 */
export const gvisorLimits = (limits: Limits): Limits => ({
  ...limits,
  processes: ownThreads + threadsOfEach * limits.processes,
});

type GvisorPlan = {
  readonly identity: Identity;
  /** In memory, with directories that bubblewrap has made. */
  readonly home: string;
  readonly openFiles: number;
};

/** Options of bubblewrap that put its configuration there, which has the command's environment. */
export function gvisorBundle(spec: SandboxSpec, plan: GvisorPlan, descriptor: (content: string) => string): string[] {
  const config = descriptor(JSON.stringify(gvisorConfig(spec, plan)));
  return [
    ...["--perms", "0700", "--tmpfs", directory, "--dir", `${directory}/state`],
    ...["--perms", "0400", "--ro-bind-data", config, `${directory}/config.json`],
  ];
}

/** The bundle's configuration, by the OCI runtime specification, for the root that bubblewrap has made. Pure. */
export function gvisorConfig(spec: SandboxSpec, plan: GvisorPlan) {
  const { identity, home, openFiles } = plan;
  const { limits } = spec;
  const limit = (name: string, value: number) => ({ type: `RLIMIT_${name}`, hard: value, soft: value });
  const size = `size=${limits.tmpBytes}`;
  const inMemory = ["/dev/shm", "/tmp", ...(spec.scratch ?? [])].map((destination) => ({
    destination,
    type: "tmpfs",
    source: "tmpfs",
    options: ["nosuid", "nodev", "mode=1777", size],
  }));
  // The root is read-only, and gVisor looks at its directories once; not so with these.
  const changing = spec.mounts.filter(({ writable, filledLater }) => writable || filledLater);
  const bound = [{ inside: home, writable: true }, ...changing].map(({ inside, writable }) => ({
    destination: inside,
    type: "bind",
    source: inside,
    options: ["rbind", writable ? "rw" : "ro"],
  }));
  return {
    ociVersion: "1.0.0",
    process: {
      user: identity,
      // runsc adds a HOME where there is none.
      args: spec.env.HOME === undefined ? ["/usr/bin/env", "-u", "HOME", "--", ...spec.argv] : spec.argv,
      // As bubblewrap sets it.
      env: Object.entries({ ...spec.env, PWD: spec.workingDirectory }).map(([name, value]) => `${name}=${value}`),
      cwd: spec.workingDirectory,
      capabilities: {},
      noNewPrivileges: true,
      rlimits: [
        limit("CORE", 0),
        limit("NOFILE", openFiles),
        ...(limits.fileBytes === undefined ? [] : [limit("FSIZE", limits.fileBytes)]),
      ],
    },
    root: { path: "/", readonly: true },
    hostname: "towpath",
    mounts: [
      { destination: "/proc", type: "proc", source: "proc" },
      { destination: "/dev", type: "tmpfs", source: "tmpfs" },
      ...inMemory,
      ...bound,
    ],
    linux: {
      namespaces: ["pid", "ipc", "uts", "mount"].map((type) => ({ type })),
      seccomp: ociSeccomp(),
    },
  };
}
