import { readFileSync, readlinkSync, statSync } from "node:fs";

/** What building the arguments depends on. A value, so that tests can describe any host. */
export type HostFacts = {
  /** Whether the platform runs as root: then sandboxes get a user id of their own, else a user namespace. */
  readonly root: boolean;
  readonly architecture: string;
  readonly tools: {
    readonly bwrap: string | null;
    readonly setpriv: string | null;
    readonly prlimit: string | null;
    readonly slirp4netns: string | null;
    readonly nsenter: string | null;
    readonly ip: string | null;
    readonly runsc: string | null;
  };
  /** The host's links such as `/bin -> usr/bin`. */
  readonly links: readonly { readonly path: string; readonly target: string }[];
  /** Top-level directories with programs that are not links, on hosts without a merged /usr. */
  readonly directories: readonly string[];
  /** Public files below /etc that programs need: certificates, time zone, the loader's cache. */
  readonly etc: readonly string[];
};

const programDirectories = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];
const publicEtc = [
  "/etc/alternatives",
  "/etc/ca-certificates",
  "/etc/ld.so.cache",
  "/etc/ld.so.conf",
  "/etc/ld.so.conf.d",
  "/etc/localtime",
  "/etc/mime.types",
  "/etc/pki",
  "/etc/protocols",
  "/etc/services",
  "/etc/ssl/certs",
  "/etc/ssl/openssl.cnf",
];
const searchPath = ["/usr/bin", "/usr/sbin", "/bin", "/sbin", "/usr/local/bin", "/usr/local/sbin"];

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** The absolute path of a program in the system's directories; ignores PATH. */
function program(name: string): string | null {
  return searchPath.map((directory) => `${directory}/${name}`).find(exists) ?? null;
}

function linkTarget(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}

/** Inspects this host without starting anything. */
export function inspectHost(): HostFacts {
  const links: { path: string; target: string }[] = [];
  const directories: string[] = [];
  for (const path of programDirectories) {
    const target = linkTarget(path);
    if (target !== null) links.push({ path, target });
    else if (exists(path)) directories.push(path);
  }
  return {
    root: process.getuid?.() === 0,
    architecture: process.arch,
    tools: {
      bwrap: program("bwrap"),
      setpriv: program("setpriv"),
      prlimit: program("prlimit"),
      slirp4netns: program("slirp4netns"),
      nsenter: program("nsenter"),
      ip: program("ip"),
      runsc: program("runsc"),
    },
    links,
    directories,
    etc: publicEtc.filter(exists),
  };
}

/** Where a container finds what it needs; "" outside of one. Docker and Podman leave these files in each. */
export const containerHint = (): string =>
  ["/.dockerenv", "/run/.containerenv"].some(exists)
    ? " A container needs the options that docs/containers.md lists (capabilities, seccomp, AppArmor, /dev/net/tun)."
    : "";

/** Kernel settings that can forbid ordinary users to create namespaces, with the values that forbid and allow it. */
const switches = [
  { name: "user.max_user_namespaces", forbids: "0", allow: "15000" },
  { name: "user.max_net_namespaces", forbids: "0", allow: "15000" },
  { name: "kernel.unprivileged_userns_clone", forbids: "0", allow: "1" },
  { name: "kernel.apparmor_restrict_unprivileged_userns", forbids: "1", allow: "0" },
] as const;

function readSwitch(name: string): string | null {
  try {
    return readFileSync(`/proc/sys/${name.replaceAll(".", "/")}`, "utf8").trim();
  } catch {
    return null;
  }
}

/** Why an ordinary user can't create namespaces here and what the administrator can do; "" if no setting forbids it. */
export function whyNoNamespaces(read: (name: string) => string | null = readSwitch): string {
  const forbidding = switches.filter(({ name, forbids }) => read(name) === forbids);
  if (forbidding.length === 0) return "";
  const found = forbidding.map(({ name, forbids }) => `${name} is ${forbids}`).join(" and ");
  const remedy = forbidding.map(({ name, allow }) => `sysctl ${name}=${allow}`).join(" and ");
  return `The kernel forbids ordinary users to create namespaces: ${found}. As root: ${remedy}.`;
}
