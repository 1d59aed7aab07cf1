import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { SandboxError } from "../../port/errors.ts";
import type { Network } from "../../port/execution.ts";
import type { Isolation } from "../../port/host.ts";
import type { SandboxSpec } from "../engine.ts";
import { runToEnd } from "../process/run-to-end.ts";
import type { Spawner } from "../process/running-process.ts";
import { ownerName, ownerRuns } from "../process/tree.ts";
import { slirpAddress, slirpGateway } from "./network.ts";

export type Check = Isolation["checks"][number];

const probeTimeoutMs = 20_000;
// Node reserves much address space; without a cgroup, that is what the limit counts.
const probeMemoryBytes = 64 * 1024 ** 3;
const tmpBytes = 1024 * 1024;
/** Multicast, cloud metadata and a private address: one of each kind that must be blocked. */
const closedAddresses = ["239.255.255.250", "169.254.169.254", "192.168.0.1"];
const insideProbe = "/opt/towpath-probe";

const reportSchema = z.object({
  uid: z.number(),
  groups: z.array(z.number()),
  capabilities: z.array(z.string()),
  noNewPrivileges: z.boolean(),
  seccomp: z.boolean(),
  environment: z.array(z.string()),
  processes: z.number(),
  foundHost: z.boolean(),
  read: z.array(z.string()),
  wrote: z.array(z.string()),
  sent: z.array(z.string()),
  exceededTmp: z.boolean(),
  madeUserNamespace: z.boolean(),
});
type Report = z.infer<typeof reportSchema> & { readonly reached: readonly string[] };

/**
 * Starts a sandbox that tries to break out, and reports what it managed to do. Network checks are prefixed with the
 * network's name.
 */
export async function probeIsolation(spawn: Spawner, stateDirectory: string, network: Network): Promise<Check[]> {
  const directory = await mkdtemp(join(stateDirectory, `probe-${await ownerName()}-`));
  const servers: Server[] = [];
  const nonce = randomBytes(16).toString("hex");
  const reached = new Set<string>();
  const onMessage = (message: string) => {
    const [sent, target] = message.split(" ");
    if (sent === nonce && target !== undefined) reached.add(target);
  };
  try {
    // In the state directory and world-readable, so that only the missing mount hides it. The second one is mounted,
    // and only its mode protects it.
    const hidden = join(directory, "hidden");
    const closed = join(directory, "closed");
    await writeFile(hidden, "secret", { mode: 0o644 });
    await writeFile(closed, "secret", { mode: 0o600 });
    const loopback = await listen(servers, { host: "127.0.0.1", port: 0 }, onMessage);
    const abstract = `\0towpath-probe-${randomBytes(8).toString("hex")}`;
    await listen(servers, { path: abstract }, onMessage);
    const root = process.getuid?.() === 0;
    const task = {
      unreadable: [hidden, "/etc/shadow", ...(root ? [`${insideProbe}/closed`] : [])],
      unwritable: ["/x", "/usr/x", "/etc/x", "/app/x", "/dev/x", "/run/x", `${insideProbe}/x`, "/proc/sys/kernel/x"],
      unreachable: [
        { host: "127.0.0.1", port: loopback },
        ...(network === "internet" ? [{ host: slirpGateway, port: loopback }] : []),
        abstract,
      ],
      // With the interface's own address as the source, which bypasses `prohibit` routes.
      unsendable: network === "internet" ? closedAddresses : [],
      sendFrom: slirpAddress,
      nonce,
      tmpBytes,
      hostProcess: await ownerName(),
    };
    const found = await report(spawn, probeSpec(closed, JSON.stringify(task), network));
    return checks({ ...found, reached: [...reached] }, network);
  } finally {
    for (const server of servers) server.close();
    await rm(directory, { recursive: true, force: true });
  }
}

/** Removes the directories of self-tests whose processes were killed. */
export async function sweepProbes(stateDirectory: string): Promise<void> {
  for (const name of await readdir(stateDirectory)) {
    // Those of earlier releases name no owner.
    const [isProbe, owner] = /^probe-(?:(\d+-\d+)-)?\w{6}$/.exec(name) ?? [];
    if (isProbe !== undefined && (owner === undefined || !(await ownerRuns(owner))))
      await rm(join(stateDirectory, name), { recursive: true, force: true });
  }
}

function probeSpec(closed: string, task: string, network: Network): SandboxSpec {
  const mount = (host: string, name: string) => ({ host, inside: `${insideProbe}/${name}`, writable: false });
  return {
    argv: [`${insideProbe}/node`, `${insideProbe}/probe.mjs`, task],
    env: { TOWPATH_PROBE: "1" },
    workingDirectory: "/tmp",
    mounts: [
      mount(process.execPath, "node"),
      mount(fileURLToPath(new URL("./self-test-probe.js", import.meta.url)), "probe.mjs"),
      mount(closed, "closed"),
    ],
    limits: { memoryBytes: probeMemoryBytes, processes: 64, cpus: 1, tmpBytes },
    network,
  };
}

async function report(spawn: Spawner, spec: SandboxSpec): Promise<z.infer<typeof reportSchema>> {
  const lines: string[] = [];
  const exit = await runToEnd(spawn, spec, {
    timeoutMs: probeTimeoutMs,
    outputBytes: 64 * 1024,
    onOutput: (_, line) => lines.push(line),
  });
  for (const line of lines) {
    if (!line.startsWith("{")) continue;
    const parsed = reportSchema.safeParse(JSON.parse(line));
    if (parsed.success) return parsed.data;
  }
  const output = lines.at(-1) ?? "nothing";
  throw new SandboxError("setup_failed", `The self-test ${exit.reason} with ${exit.code ?? exit.signal}: ${output}`);
}

function checks(found: Report, network: Network): Check[] {
  const check = (name: string, ok: boolean, detail: string): Check => ({
    name: network === "none" ? name : `${network}: ${name}`,
    ok,
    required: true,
    detail,
  });
  const foreign = found.environment.filter((name) => !["PWD", "TOWPATH_PROBE"].includes(name));
  const none = (list: readonly string[]) => (list.length === 0 ? "none" : list.join(", "));
  return [
    check("unprivileged user", found.uid > 0 && !found.groups.includes(0), `user ${found.uid}`),
    check(
      "no capabilities",
      found.capabilities.every((set) => /^0+$/.test(set)),
      found.capabilities.join(" "),
    ),
    check("no new privileges", found.noNewPrivileges, String(found.noNewPrivileges)),
    { ...check("system call filter", found.seccomp, String(found.seccomp)), required: false },
    check("no user namespaces", !found.madeUserNamespace, found.madeUserNamespace ? "made one" : "refused"),
    check("no host files", found.read.length === 0, `read: ${none(found.read)}`),
    check("no writing outside", found.wrote.length === 0, `wrote: ${none(found.wrote)}`),
    check("no platform environment", foreign.length === 0, `found: ${none(foreign)}`),
    check("no host processes", !found.foundHost && found.processes < 10, `${found.processes} processes visible`),
    check("closed ranges", found.sent.length === 0, `sent to: ${none(found.sent)}`),
    check("disk limit", !found.exceededTmp, found.exceededTmp ? "/tmp took more" : "/tmp is full at its limit"),
    check("no host sockets", found.reached.length === 0, `reached: ${none(found.reached)}`),
  ];
}

/** `onMessage` gets what each connection sends. Connections are closed once they have sent something. */
function listen(
  servers: Server[],
  where: { host: string; port: number } | { path: string },
  onMessage: (message: string) => void,
): Promise<number> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.setTimeout(probeTimeoutMs, () => socket.destroy());
    socket.once("data", (message) => {
      onMessage(message.toString());
      socket.destroy();
    });
  });
  servers.push(server);
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(where, () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : 0);
    });
  });
}
