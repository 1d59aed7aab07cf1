import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { connect, isIP } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { KubernetesApi } from "./api/client.ts";
import type { PodSettings } from "./config.ts";
import { dialingPod, listeningPod } from "./pod/probe-pod.ts";
import { serverPort } from "./pod/server-pod.ts";
import { reportOf, untilPod, withProbe } from "./probe.ts";

export type Target = {
  /** For a sentence, such as `the API server`. */
  readonly name: string;
  /** An address, or a name that this process resolves. */
  readonly host: string;
  readonly port: number;
};

export type NetworkReport = {
  /** What a server must not reach, and reaches: names with addresses. */
  readonly reached: readonly string[];
  /** Whether it reaches other servers, which nobody but a network policy keeps it from. */
  readonly reachesServers: boolean;
  /** Whether this process, which policies let through, reaches servers. */
  readonly isCalled: boolean;
};

/** Where clouds answer with the credentials of a machine. */
const metadata: Target = { name: "the cloud's metadata", host: "169.254.169.254", port: 80 };
const kubeletPort = 10_250;
/** Policies let a new pod's callers in a little later. */
const calledMs = 15_000;
const callMs = 2000;
const reportSchema = z.object({ reached: z.array(z.boolean()) });

/**
 * Tries from a pod like a server's what servers must not reach, and from here a pod that policies take for a server. All
 * targets that it is given listen, or else not reaching them proves nothing.
 *
 * @throws Error with a sentence for the operator if it can't be tried
 */
export async function testNetwork(
  api: KubernetesApi,
  options: { readonly settings: PodSettings; readonly targets: readonly Target[]; readonly timeoutMs: number },
): Promise<NetworkReport> {
  const { settings, timeoutMs } = options;
  return await withProbe(api, listeningPod(settings), async (listening) => {
    const { podIP, hostIP } = await untilPod(api, listening, timeoutMs, "start", ({ status }) =>
      status?.phase === "Running" && status.podIP !== undefined
        ? { podIP: status.podIP, hostIP: status.hostIP }
        : undefined,
    );
    const isCalled = await answersWithin(calledMs, { host: podIP, port: serverPort });
    const server: Target = { name: "other servers", host: podIP, port: serverPort };
    const node = hostIP === undefined ? [] : [{ name: "its node", host: hostIP, port: kubeletPort }];
    const targets = [server, metadata, ...node, ...(await resolved(options.targets))];
    const { reached } = await withProbe(api, dialingPod(settings, targets), (dialing) =>
      reportOf(api, dialing, { schema: reportSchema, timeoutMs }),
    );
    const found = targets.filter((_, index) => reached[index]);
    return {
      reached: found.map(({ name, host, port }) => `${name} (${isIP(host) === 6 ? `[${host}]` : host}:${port})`),
      reachesServers: found.includes(server),
      isCalled,
    };
  });
}

/** Without those that this process can't find either, and those that mean the pod itself. */
async function resolved(targets: readonly Target[]): Promise<Target[]> {
  const found = await Promise.all(
    targets.map(async (target) => {
      const answer = await lookup(target.host).catch(() => null);
      return answer === null || isOwn(answer.address) ? [] : [{ ...target, host: answer.address }];
    }),
  );
  return found.flat();
}

const isOwn = (address: string) => address.startsWith("127.") || address === "::1" || address === "0.0.0.0";

async function answersWithin(ms: number, target: Pick<Target, "host" | "port">): Promise<boolean> {
  for (const until = performance.now() + ms; ; await sleep(250)) {
    if (await answers(target)) return true;
    if (performance.now() > until) return false;
  }
}

async function answers({ host, port }: Pick<Target, "host" | "port">): Promise<boolean> {
  const socket = connect({ host, port });
  try {
    await once(socket, "connect", { signal: AbortSignal.timeout(callMs) });
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
