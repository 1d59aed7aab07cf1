import { homeEnvironment, serverHome } from "../../harness-command.ts";
import { SandboxError } from "../../port/errors.ts";
import type { SandboxSpec } from "../engine.ts";
import { enterUsers } from "../forks/enter-users.ts";
import { gvisorBundle, gvisorCapabilities, runscCommand } from "./gvisor.ts";
import type { HostFacts } from "./host.ts";
import { enterArguments } from "./network.ts";
import { seccompFilter } from "./seccomp.ts";

/**
 * How the spec's `network` is implemented: an empty namespace of its own, one that slirp4netns joins later, one that a
 * process holds for it (without root), or the host's.
 */
export type NetworkPlan = "none" | "slirp" | { readonly heldBy: number } | "host";

/** The user that runs the command: on the host if the platform is root, else only inside the sandbox. */
export type Identity = { readonly uid: number; readonly gid: number };

export type SandboxPlan = {
  /** Whose kernel serves the command's system calls. gVisor's runs within bubblewrap, which makes what it sees. */
  readonly kernel: "host" | "gvisor";
  readonly identity: Identity;
  readonly network: NetworkPlan;
  /** Limits that no cgroup enforces and that therefore become resource limits of the process. */
  readonly withoutCgroup: { readonly memory: boolean; readonly processes: boolean };
  /** Content of the host's resolv.conf; used only with the host's network. */
  readonly hostResolver: string;
};

/** A bubblewrap call: what to spawn and what to write to which descriptor. */
export type SandboxCommand = {
  readonly file: string;
  readonly argv: readonly string[];
  /** bubblewrap's own options, passed on descriptor 3, because /proc/<pid>/cmdline is public. */
  readonly options: readonly string[];
  /** Content for descriptors from 6 on. */
  readonly data: readonly (string | Uint8Array)[];
};

const optionsDescriptor = 3;
export const statusDescriptor = 4;
export const blockDescriptor = 5;
export const firstDataDescriptor = 6;

const openFiles = 4096;

// glibc ignores these in set-user-id programs, because they change how a program is loaded. setpriv and prlimit still
// run as root for a moment, so they must not see them either; env(1) adds them after the change of user.
const loaderVariable =
  /^(LD_.*|GLIBC_TUNABLES|GCONV_PATH|GETCONF_DIR|HOSTALIASES|LOCALDOMAIN|LOCPATH|MALLOC_.*|NIS_PATH|NLSPATH|RES_OPTIONS|RESOLV_HOST_CONF|TMPDIR|TZ|TZDIR|LANG|LANGUAGE|LC_.*|LIBMOUNT_.*)$/;

/** Bubblewrap arguments for a spec. Pure. Throws SandboxError `invalid_spec` for what can't be expressed safely. */
export function sandboxCommand(spec: SandboxSpec, host: HostFacts, plan: SandboxPlan): SandboxCommand {
  checkSpec(spec);
  const data: (string | Uint8Array)[] = [];
  const descriptor = (content: string | Uint8Array) => String(firstDataDescriptor + data.push(content) - 1);
  const loader = host.root ? Object.entries(spec.env).filter(([name]) => loaderVariable.test(name)) : [];
  const early = Object.entries(spec.env).filter(([name]) => !host.root || !loaderVariable.test(name));
  const inGvisor = plan.kernel === "gvisor";
  const filter = inGvisor ? null : seccompFilter(host.architecture);
  const variables = inGvisor ? [] : early;
  const options = [
    ...namespaces(host, plan),
    ...systemView(spec, host, plan, descriptor),
    ...mounts(spec),
    ...(inGvisor ? gvisorBundle(spec, { identity: plan.identity, home: serverHome, openFiles }, descriptor) : []),
    "--remount-ro",
    "/dev",
    "--remount-ro",
    "/",
    "--json-status-fd",
    String(statusDescriptor),
    "--block-fd",
    String(blockDescriptor),
    // What lets its command fork adds one itself, after it has made the namespace of its users.
    ...(filter === null || spec.forks !== undefined ? [] : ["--seccomp", descriptor(filter)]),
    "--clearenv",
    ...variables.flatMap(([name, value]) => ["--setenv", name, value]),
    "--chdir",
    inGvisor ? "/" : spec.workingDirectory,
  ];
  const bubblewrap = host.tools.bwrap ?? "bwrap";
  const holder = typeof plan.network === "object" ? plan.network.heldBy : null;
  return {
    file: holder === null ? bubblewrap : (host.tools.nsenter ?? "nsenter"),
    argv: [
      ...(holder === null ? [] : [...enterArguments({ pid: holder, user: true }), "--", bubblewrap]),
      "--args",
      String(optionsDescriptor),
      "--",
      ...(inGvisor
        ? runscCommand(host.tools.runsc ?? "runsc", plan.network)
        : [
            ...resourceLimits(spec, host, plan),
            ...(spec.forks === undefined
              ? dropRoot(host, plan.identity)
              : enterUsers(spec.forks, host.architecture, plan.identity.uid)),
            ...lateEnvironment(loader),
            ...spec.argv,
          ]),
    ],
    options,
    data,
  };
}

/** @throws SandboxError `invalid_spec` for what can't be expressed safely */
export function checkSpec(spec: Pick<SandboxSpec, "argv" | "env" | "workingDirectory" | "mounts" | "scratch">): void {
  const paths = [
    spec.workingDirectory,
    ...(spec.scratch ?? []),
    ...spec.mounts.flatMap((mount) => [mount.host, mount.inside]),
  ];
  const strings = [...spec.argv, ...paths, ...Object.entries(spec.env).flat()];
  // Options are separated by NUL: a NUL in a value would let a tenant add options.
  if (strings.some((text) => text.includes("\0")))
    throw new SandboxError("invalid_spec", "A NUL character cannot be part of an argument, variable or path.");
  const badName = Object.keys(spec.env).find((name) => !/^[^=]+$/.test(name));
  if (badName !== undefined)
    throw new SandboxError("invalid_spec", `"${badName}" is not the name of an environment variable.`);
  for (const path of paths)
    if (!path.startsWith("/") || path.split("/").some((part) => part === ".." || part === "."))
      throw new SandboxError("invalid_spec", `"${path}" is not an absolute path without "." and "..".`);
  if (spec.argv[0].includes("=")) throw new SandboxError("invalid_spec", 'A program\'s path must not contain "=".');
}

function namespaces(host: HostFacts, plan: SandboxPlan): string[] {
  const { uid, gid } = plan.identity;
  const inGvisor = plan.kernel === "gvisor";
  const user = inGvisor
    ? ["--cap-drop", "ALL", ...gvisorCapabilities.flatMap((name) => ["--cap-add", name])]
    : host.root
      ? // setpriv needs these three to switch to another user, and drops them.
        ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP"]
      : ["--unshare-user", "--disable-userns", "--uid", String(uid), "--gid", String(gid), "--cap-drop", "ALL"];
  return [
    ...user,
    "--unshare-ipc",
    "--unshare-pid",
    "--unshare-uts",
    "--unshare-cgroup-try",
    ...(plan.network === "none" || plan.network === "slirp" ? ["--unshare-net"] : []),
    "--hostname",
    "towpath",
    "--new-session",
    "--die-with-parent",
  ];
}

function systemView(
  spec: SandboxSpec,
  host: HostFacts,
  plan: SandboxPlan,
  descriptor: (content: string) => string,
): string[] {
  const scratch = (path: string) => scratchDirectory(path, spec);
  const files = Object.entries(systemFiles(plan.identity, plan.network, plan.hostResolver));
  return [
    "--ro-bind",
    "/usr",
    "/usr",
    ...host.directories.flatMap((path) => ["--ro-bind", path, path]),
    ...host.links.flatMap(({ path, target }) => ["--symlink", target, path]),
    // Directories that bubblewrap creates implicitly are inaccessible to other users.
    ...["/etc", "/etc/ssl", "/home", "/var", "/run"].flatMap(directory),
    ...host.etc.flatMap((path) => ["--ro-bind", path, path]),
    // Nothing can be mounted over the other kind, as each fork's own files are.
    ...files.flatMap(([path, content]) => [
      "--perms",
      "0444",
      spec.forks === undefined ? "--ro-bind-data" : "--file",
      descriptor(content),
      path,
    ]),
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    ...scratch("/dev/shm"),
    ...scratch("/tmp"),
    ...scratch(serverHome),
    ...homeDirectories.flatMap(directory),
    "--symlink",
    "/tmp",
    "/var/tmp",
  ];
}

/** The sandbox's user owns everything below the scratch directories, and nothing elsewhere. */
const directory = (path: string) => [
  "--perms",
  ["/tmp/", `${serverHome}/`].some((scratch) => path.startsWith(scratch)) ? "0777" : "0755",
  "--dir",
  path,
];

const scratchDirectory = (path: string, { limits }: Pick<SandboxSpec, "limits">) => [
  "--perms",
  "1777",
  "--size",
  String(limits.tmpBytes),
  "--tmpfs",
  path,
];

/** Outer mounts first, so that a mount inside another one is not hidden by it. */
function mounts(spec: SandboxSpec): string[] {
  const own = (spec.scratch ?? []).map((inside) => ({ inside, options: scratchDirectory(inside, spec) }));
  const bound = spec.mounts.map(({ host, inside, writable }) => ({
    inside,
    options: [writable ? "--bind" : "--ro-bind", host, inside],
  }));
  const ordered = [...own, ...bound].sort((a, b) => depth(a.inside) - depth(b.inside));
  const made = new Set(["/", "/etc", "/etc/ssl", "/home", "/var", "/run", "/tmp", "/dev", "/proc", serverHome]);
  const options: string[] = [];
  const mounted: string[] = ["/usr"];
  for (const mount of ordered) {
    for (const parent of parents(mount.inside)) {
      if (made.has(parent) || mounted.some((outer) => parent === outer || parent.startsWith(`${outer}/`))) continue;
      made.add(parent);
      options.push(...directory(parent));
    }
    options.push(...mount.options);
    mounted.push(mount.inside);
  }
  return options;
}

const depth = (path: string) => path.split("/").length;

function parents(path: string): string[] {
  const parts = path.split("/").filter((part) => part !== "");
  return parts.slice(0, -1).map((_, index) => `/${parts.slice(0, index + 1).join("/")}`);
}

function resourceLimits(spec: SandboxSpec, host: HostFacts, plan: SandboxPlan): string[] {
  return [
    host.tools.prlimit ?? "/usr/bin/prlimit",
    "--core=0",
    `--nofile=${openFiles}`,
    ...(spec.limits.fileBytes === undefined ? [] : [`--fsize=${spec.limits.fileBytes}`]),
    ...(plan.withoutCgroup.memory ? [`--data=${spec.limits.memoryBytes}`] : []),
    // The kernel counts per user: don't limit a user that also runs the platform.
    ...(plan.withoutCgroup.processes && host.root ? [`--nproc=${spec.limits.processes}`] : []),
    "--",
  ];
}

function dropRoot(host: HostFacts, { uid, gid }: Identity): string[] {
  if (!host.root) return [];
  return [
    host.tools.setpriv ?? "/usr/bin/setpriv",
    `--reuid=${uid}`,
    `--regid=${gid}`,
    "--clear-groups",
    "--no-new-privs",
    "--inh-caps=-all",
    "--ambient-caps=-all",
    "--bounding-set=-all",
    "--",
  ];
}

function lateEnvironment(variables: readonly (readonly [string, string])[]): string[] {
  if (variables.length === 0) return [];
  return ["/usr/bin/env", "--", ...variables.map(([name, value]) => `${name}=${value}`)];
}

/** The home directory in every sandbox: private, in memory, gone with the sandbox. */
export const homeDirectories = [`${serverHome}/.local`, ...Object.values(homeEnvironment)];
const sandboxUserName = "towpath";

/** slirp4netns answers DNS at this address and asks the host's resolver. */
const slirpNameserver = "10.0.2.3";

/** Files below /etc that don't reveal anything about the host or its users. */
export function systemFiles(
  identity: { readonly uid: number; readonly gid: number },
  network: NetworkPlan,
  hostResolver: string,
): Readonly<Record<string, string>> {
  const { uid, gid } = identity;
  const resolver = {
    none: "",
    slirp: `nameserver ${slirpNameserver}\noptions timeout:5 attempts:2\n`,
    host: hostResolver,
  }[typeof network === "object" ? "slirp" : network];
  return {
    "/etc/passwd": `root:x:0:0:root:/nonexistent:/usr/sbin/nologin\n${sandboxUserName}:x:${uid}:${gid}::${serverHome}:/bin/sh\n`,
    "/etc/group": `root:x:0:\n${sandboxUserName}:x:${gid}:\n`,
    "/etc/hosts": "127.0.0.1 localhost towpath\n::1 localhost ip6-localhost\n",
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n",
    "/etc/resolv.conf": resolver,
  };
}
