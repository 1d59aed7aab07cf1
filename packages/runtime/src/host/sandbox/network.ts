import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { networkInterfaces } from "node:os";
import { SandboxError } from "../../port/errors.ts";
import type { HostedProcess, ProcessHost } from "../process/host.ts";
import { type HostFacts, whyNoNamespaces } from "./host.ts";

const readyTimeoutMs = 5000;
const maxMtu = 65520;
const tap = "tap0";
const slirpNetwork = "10.0.2.0/24";
/** The sandbox's own address. */
export const slirpAddress = "10.0.2.100";
export const slirpGateway = "10.0.2.2";

/** Unreachable from a sandbox: private ranges, link-local with cloud metadata, shared, benchmark, multicast. */
const prohibitedRanges = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "224.0.0.0/4",
  "240.0.0.0/4",
];
/** slirp4netns carries no IPv6, but the interface has a link-local address: link-local and multicast. */
const prohibitedRanges6 = ["fe80::/10", "ff00::/8"];

/** The host's own IPv4 addresses: services that listen on all interfaces are reachable at them. */
export function hostAddresses(): string[] {
  return Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter((each) => each.family === "IPv4" && !each.internal)
    .map((each) => each.address);
}

/**
 * Lines for `ip -batch`: routes to what a sandbox may not reach. slirp4netns's own /24 is more specific and stays
 * reachable.
 */
function prohibitRoutes(addresses: readonly string[]): string {
  const targets = [...prohibitedRanges, ...addresses.map((address) => `${address}/32`)];
  return targets.map((target) => `route add prohibit ${target}\n`).join("");
}

/**
 * Lines for `ip -batch`: the same ranges again, as policies for outgoing packets. A process may choose an interface
 * (IP_MULTICAST_IF, IP_PKTINFO, SO_BINDTODEVICE, or bind to its address); the kernel then ignores `prohibit` routes.
 */
export function prohibitPolicies(
  addresses: readonly string[],
  allowedRanges: readonly string[],
  hasIpv6 = existsSync("/proc/net/if_inet6"),
): string {
  const ranges = [...prohibitedRanges, ...(hasIpv6 ? prohibitedRanges6 : [])];
  const prohibited = [...ranges, ...addresses.map((address) => `${address}/32`)];
  const allowed = [slirpNetwork, ...allowedRanges];
  // `update` also adds, and replaces the policy of a prohibited range that the operator allows entirely.
  const policy = (target: string, rest: string) => `xfrm policy update dir out dst ${target} action ${rest}\n`;
  return [
    ...prohibited.map((target) => policy(target, "block priority 2")),
    ...allowed.map((target) => policy(target, "allow priority 1")),
  ].join("");
}

/** Lines for `ip -batch`: exceptions set by the operator. As longer or equal prefixes they take precedence. */
function allowRoutes(ranges: readonly string[]): string {
  return ranges.map((range) => `route replace ${range} via ${slirpGateway} dev ${tap}\n`).join("");
}

/** A process in the network namespace; `user`: the namespace is owned by the process's own user namespace. */
type Target = { readonly pid: number; readonly user: boolean };

/** Arguments of slirp4netns for the namespaces of a process. */
export function slirpArguments({ pid, user }: Target): string[] {
  return [
    "--configure",
    `--mtu=${maxMtu}`,
    "--disable-host-loopback",
    "--enable-sandbox",
    "--enable-seccomp",
    "--ready-fd=3",
    // Its parent has the other end: when the parent dies, for any reason, slirp4netns reads EOF and exits.
    "--exit-fd=4",
    // Given a process id it also enters the user namespace, which its own sandboxing needs; given a path it doesn't.
    ...(user ? [String(pid)] : ["--netns-type=path", `/proc/${pid}/ns/net`]),
    tap,
  ];
}

/** Needed to start the network's processes; `group`: their sandbox. */
export type NetworkContext = {
  readonly host: HostFacts;
  readonly processes: ProcessHost;
  readonly group: string;
  /** Private ranges that stay reachable. */
  readonly allowedRanges: readonly string[];
};

export type NetworkHandle = { readonly stop: () => Promise<void> };
export type NetworkHolder = NetworkHandle & { readonly pid: number };

/**
 * Connects a sandbox's network namespace to the internet and blocks the ranges that it must not reach. For root.
 * @param pid first process of the sandbox, as the host sees it; it must not run the tenant's command yet
 * @throws SandboxError `network_unavailable`
 */
export async function connectNetwork(context: NetworkContext, pid: number): Promise<NetworkHandle> {
  // slirp4netns brings up the loopback too, and bubblewrap fails if it comes second.
  await loopbackExists(pid);
  return await join(context, { pid, user: false }, "");
}

/**
 * Creates a connected network namespace for a sandbox to be started in it. Without root, bubblewrap's own can't be
 * joined: its processes belong to a user namespace in which nobody may change anything. This one belongs to a user
 * namespace around bubblewrap's, and an idle process holds both.
 * @throws SandboxError `network_unavailable`
 */
export async function holdNetwork(context: NetworkContext): Promise<NetworkHolder> {
  const holder = await context.processes.spawn(
    {
      file: "/usr/bin/unshare",
      argv: ["--user", "--map-root-user", "--net", "--", "/usr/bin/cat"],
      stdio: ["in", "out", "out"],
      env: {},
      cwd: "/",
    },
    context.group,
  );
  const held = networkOf([holder]);
  try {
    await echoes(holder);
    const network = await join(context, { pid: holder.pid, user: true }, "link set lo up\n");
    return {
      pid: holder.pid,
      async stop() {
        await Promise.all([network.stop(), held.stop()]);
      },
    };
  } catch (error) {
    await held.stop();
    throw error;
  }
}

/** Treats the processes that connect a sandbox as one. */
export function networkOf(processes: readonly HostedProcess[]): NetworkHandle {
  return {
    async stop() {
      for (const each of processes) each.signal("SIGKILL");
      await Promise.all(processes.map((each) => each.exited));
    },
  };
}

/** Waits until cat echoes its input: by then unshare has created the namespaces and has become cat. */
function echoes(holder: HostedProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    const complaint = lastOutputOf(holder);
    void complaint.then((text) => {
      const reason = `${text || "unshare ended"}. ${whyNoNamespaces()}`.trim();
      reject(new SandboxError("network_unavailable", `No network namespace can be created here: ${reason}`));
    });
    holder.output(1).once("data", () => resolve());
    // From now on it waits for EOF, which comes when its parent ends.
    holder.write(0, "\n", false);
  });
}

/** The last part of a process's stderr, once it has ended. */
async function lastOutputOf(hosted: HostedProcess): Promise<string> {
  let text = "";
  const stderr = hosted.output(2);
  stderr.on("data", (chunk: Buffer) => {
    text = (text + chunk.toString("utf8")).slice(-2000);
  });
  await Promise.all([hosted.exited, new Promise((resolve) => stderr.once("close", resolve))]);
  return text.trim();
}

/** Routes come first: while slirp4netns sets its address, the interface briefly has all of 10.0.0.0/8. */
async function join(context: NetworkContext, target: Target, first: string): Promise<NetworkHandle> {
  const { host, allowedRanges } = context;
  const { slirp4netns } = host.tools;
  if (slirp4netns === null)
    throw new SandboxError("network_unavailable", "slirp4netns is not installed: apt-get install slirp4netns.");
  const own = hostAddresses();
  await configure(host, target, first + prohibitRoutes(own) + prohibitPolicies(own, allowedRanges));
  const slirp = await context.processes.spawn(
    {
      // Its own sandbox unmounts everything, which as root would reach other mount namespaces: those of the host, where
      // mounts are shared, and in containers the directories of all servers.
      ...(target.user
        ? { file: slirp4netns, argv: slirpArguments(target) }
        : {
            file: "/usr/bin/unshare",
            argv: ["--mount", "--propagation=private", "--", slirp4netns, ...slirpArguments(target)],
          }),
      stdio: ["ignore", "ignore", "out", "out", "in"],
      env: {},
      cwd: "/",
    },
    context.group,
  );
  const network = networkOf([slirp]);
  try {
    await ready(slirp);
    if (allowedRanges.length > 0) await configure(host, target, allowRoutes(allowedRanges));
    return network;
  } catch (error) {
    await network.stop();
    throw error;
  }
}

/** Waits until bubblewrap has set up the loopback, its last change to the namespace. */
async function loopbackExists(pid: number): Promise<void> {
  const deadline = performance.now() + readyTimeoutMs;
  while (performance.now() < deadline) {
    try {
      if ((await readFile(`/proc/${pid}/net/fib_trie`, "utf8")).includes("127.0.0.1")) return;
    } catch {
      throw new SandboxError("network_unavailable", "The sandbox ended before it had a network.");
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  throw new SandboxError("network_unavailable", "The sandbox's loopback did not come up.");
}

function ready(slirp: HostedProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (text: string) =>
      reject(new SandboxError("network_unavailable", `slirp4netns did not connect the sandbox: ${text}`));
    const timer = setTimeout(() => fail(`no answer within ${readyTimeoutMs} ms`), readyTimeoutMs);
    slirp.output(3).once("data", () => {
      clearTimeout(timer);
      resolve();
    });
    void lastOutputOf(slirp).then((text) => {
      clearTimeout(timer);
      fail(text.split("\n").join("; ") || "it ended");
    });
  });
}

/** Runs `ip -batch` inside the namespace. The tenant has no capability there and cannot undo it. */
function configure(host: HostFacts, target: Target, batch: string): Promise<void> {
  const { nsenter, ip } = host.tools;
  if (nsenter === null || ip === null)
    throw new SandboxError("network_unavailable", "nsenter and ip are needed: apt-get install util-linux iproute2.");
  const child = spawn(nsenter, [...enterArguments(target), "--", ip, "-force", "-batch", "-"], {
    stdio: ["pipe", "ignore", "pipe"],
    env: {},
  });
  let complaint = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    complaint += chunk.toString("utf8");
  });
  // It may exit before it has read everything; its exit status says why.
  child.stdin?.on("error", () => {});
  child.stdin?.end(batch);
  return new Promise((resolve, reject) => {
    const fail = (text: string) =>
      reject(new SandboxError("network_unavailable", `Private address ranges could not be blocked: ${text}`));
    child.once("error", (error) => fail(error.message));
    child.once("close", (code) => (code === 0 ? resolve() : fail(complaint.trim())));
  });
}

/** Arguments of nsenter for the namespaces of a process. */
export function enterArguments({ pid, user }: Target): string[] {
  const network = `--net=/proc/${pid}/ns/net`;
  return user ? [`--user=/proc/${pid}/ns/user`, network, "--preserve-credentials"] : [network];
}
