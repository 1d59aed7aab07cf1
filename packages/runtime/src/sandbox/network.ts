import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { networkInterfaces } from "node:os";
import { SandboxError } from "../errors.ts";
import type { HostFacts } from "./host.ts";

const readyTimeoutMs = 5000;
const largestMtu = 65520;
const tap = "tap0";
const slirpNetwork = "10.0.2.0/24";
export const slirpGateway = "10.0.2.2";

/** Never reached from a sandbox: private ranges, link-local with cloud metadata, shared, benchmark, multicast. */
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

/** The host's own IPv4 addresses: services that listen on all interfaces are reachable by them. */
export function hostAddresses(): string[] {
  return Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter((each) => each.family === "IPv4" && !each.internal)
    .map((each) => each.address);
}

/** Descriptor 5 of our helpers: the sandbox's first user namespace, which owns its network. */
const inheritedUserNamespace = "/proc/self/fd/5";

/** Lines for `ip -batch`: what a sandbox's namespace may not reach. slirp4netns's own /24 is more specific and stays. */
export function prohibitRoutes(addresses: readonly string[]): string {
  const targets = [...prohibitedRanges, ...addresses.map((address) => `${address}/32`)];
  return targets.map((target) => `route add prohibit ${target}\n`).join("");
}

/**
 * Lines for `ip -batch`: the same ranges again, as policies for outgoing packets. A process may choose an interface
 * (IP_MULTICAST_IF, IP_PKTINFO, SO_BINDTODEVICE, or bind to its address); the kernel then ignores what routes prohibit.
 */
export function prohibitPolicies(addresses: readonly string[], allowedRanges: readonly string[]): string {
  const prohibited = [...prohibitedRanges, ...prohibitedRanges6, ...addresses.map((address) => `${address}/32`)];
  const allowed = [slirpNetwork, ...allowedRanges];
  const policy = (target: string, rest: string) => `xfrm policy add dir out dst ${target} action ${rest}\n`;
  return [
    ...prohibited.map((target) => policy(target, "block priority 2")),
    ...allowed.map((target) => policy(target, "allow priority 1")),
  ].join("");
}

/** Lines for `ip -batch`: exceptions that the operator named. They win by being added as longer or equal prefixes. */
export function allowRoutes(ranges: readonly string[]): string {
  return ranges.map((range) => `route replace ${range} via ${slirpGateway} dev ${tap}\n`).join("");
}

/** Arguments of slirp4netns for the namespaces of a process. */
export function slirpArguments(pid: number, root: boolean): string[] {
  return [
    "--configure",
    `--mtu=${largestMtu}`,
    "--disable-host-loopback",
    "--enable-sandbox",
    "--enable-seccomp",
    "--ready-fd=3",
    // The other end is ours: when this process dies, however it dies, slirp4netns sees the end and leaves.
    "--exit-fd=4",
    "--netns-type=path",
    ...(root ? [] : [`--userns-path=${inheritedUserNamespace}`]),
    `/proc/${pid}/ns/net`,
    tap,
  ];
}

export type NetworkHandle = { readonly stop: () => Promise<void>; readonly pid: number };

/**
 * Connects a sandbox's network namespace to the outside and closes the ranges that it must not reach.
 * @param pid first process of the sandbox, as the host sees it; it must not run the tenant's command yet
 * @throws SandboxError `network_unavailable`
 */
export async function connectNetwork(
  host: HostFacts,
  pid: number,
  allowedRanges: readonly string[],
): Promise<NetworkHandle> {
  const { slirp4netns } = host.tools;
  if (slirp4netns === null)
    throw new SandboxError("network_unavailable", "slirp4netns is not installed: apt-get install slirp4netns.");
  // In this order: slirp4netns brings the loopback up too, and bubblewrap fails when it is second; and while it sets
  // its address the interface has all of 10.0.0.0/8 for a moment, which our route for it would collide with.
  const namespaces = openNamespaces(host, pid);
  let network: NetworkHandle | null = null;
  try {
    await loopbackExists(pid);
    const own = hostAddresses();
    await routes(host, namespaces, prohibitRoutes(own) + prohibitPolicies(own, allowedRanges));
    const child = spawn(slirp4netns, slirpArguments(pid, host.root), {
      stdio: ["ignore", "ignore", "pipe", "pipe", "pipe", namespaces.user ?? "ignore"],
      env: {},
    });
    network = handle(child);
    await ready(child);
    if (allowedRanges.length > 0) await routes(host, namespaces, allowRoutes(allowedRanges));
    return network;
  } catch (error) {
    await network?.stop();
    throw error;
  } finally {
    if (namespaces.user !== null) closeSync(namespaces.user);
  }
}

type Namespaces = { readonly pid: number; readonly user: number | null };

/**
 * Without root: bubblewrap later moves on to a second user namespace, in which nothing may be changed any more; so
 * the first one is held from the beginning.
 */
function openNamespaces(host: HostFacts, pid: number): Namespaces {
  try {
    return { pid, user: host.root ? null : openSync(`/proc/${pid}/ns/user`, "r") };
  } catch (error) {
    throw new SandboxError("network_unavailable", "The sandbox ended before it had a network.", { cause: error });
  }
}

/** Waits until bubblewrap has set up the loopback: what it does to the namespace ends with that. */
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

function handle(child: ChildProcess): NetworkHandle {
  for (const stream of child.stdio) stream?.on("error", () => {});
  const gone = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", () => resolve());
  });
  return {
    pid: child.pid ?? 0,
    async stop() {
      child.kill("SIGKILL");
      await gone;
    },
  };
}

function ready(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let complaint = "";
    const fail = (text: string) =>
      reject(new SandboxError("network_unavailable", `slirp4netns did not connect the sandbox: ${text}`));
    const timer = setTimeout(() => fail(`no answer within ${readyTimeoutMs} ms`), readyTimeoutMs);
    child.stderr?.on("data", (chunk: Buffer) => {
      if (complaint.length < 2000) complaint += chunk.toString("utf8");
    });
    child.stdio[3]?.once("data", () => {
      clearTimeout(timer);
      resolve();
    });
    child.once("error", (error) => {
      clearTimeout(timer);
      fail(error.message);
    });
    child.once("exit", () => {
      clearTimeout(timer);
      fail(complaint.trim().split("\n").at(-1) ?? "it ended");
    });
  });
}

/** Runs `ip -batch` inside the namespace. The tenant has no capability there and cannot undo it. */
function routes(host: HostFacts, { pid, user }: Namespaces, batch: string): Promise<void> {
  const { nsenter, ip } = host.tools;
  if (nsenter === null || ip === null)
    throw new SandboxError("network_unavailable", "nsenter and ip are needed: apt-get install util-linux iproute2.");
  const enter = user === null ? [] : [`--user=${inheritedUserNamespace}`, "--preserve-credentials"];
  const child = spawn(nsenter, [...enter, `--net=/proc/${pid}/ns/net`, "--", ip, "-force", "-batch", "-"], {
    stdio: ["pipe", "ignore", "pipe", "ignore", "ignore", user ?? "ignore"],
    env: {},
  });
  let complaint = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    complaint += chunk.toString("utf8");
  });
  // It may end before it has read everything; its exit status says so.
  child.stdin?.on("error", () => {});
  child.stdin?.end(batch);
  return new Promise((resolve, reject) => {
    const fail = (text: string) =>
      reject(new SandboxError("network_unavailable", `Private address ranges could not be closed: ${text}`));
    child.once("error", (error) => fail(error.message));
    child.once("close", (code) => (code === 0 ? resolve() : fail(complaint.trim())));
  });
}
