import { randomUUID } from "node:crypto";
import type { Capability, DriverRole, RunnerIdentity, RuntimeDriver } from "../port/driver.ts";
import type { Isolation } from "../port/host.ts";
import { type ApiOptions, KubernetesApi } from "./api/client.ts";
import { connectionOf } from "./api/connection.ts";
import { PodBuilds } from "./build/pod-builds.ts";
import type { KubernetesSettings } from "./config.ts";
import { DataClaims, noData } from "./data-claims.ts";
import { cachedProbe, kubernetesHost, type NetworkFound } from "./host-report.ts";
import { kept } from "./kept.ts";
import { keepLeaderEndpoint, type LeaderEndpoint } from "./leader-endpoint.ts";
import { claimLease, type KeptLease, keepLease, leaseRequestMs } from "./leadership.ts";
import { type Target, testNetwork } from "./network-test.ts";
import { WaitingPods } from "./pool/waiting-pods.ts";
import { probeCluster } from "./probe.ts";
import type { RemoteLayers } from "./remote-layers.ts";
import { KubernetesServers } from "./server/kubernetes-servers.ts";

/** For a node, which an autoscaler may first have to make, and for the image. */
const placeMs = 120_000;
const probeMs = 120_000;
/** A build inspects a server for minutes at most. Its pod ends then even if no worker removes it. */
const inspectionMs = 30 * 60_000;

const kubernetesApi = (
  { api, namespace }: Pick<KubernetesSettings, "api" | "namespace">,
  options?: ApiOptions,
): KubernetesApi => new KubernetesApi(() => connectionOf(api), namespace, options);
/** Of its own, so that nothing else delays renewals. */
const leaseApi = (settings: KubernetesSettings) => kubernetesApi(settings, { requestMs: leaseRequestMs });

/** The driver for a cluster. */
export function openClusterDriver(settings: KubernetesSettings, layers: RemoteLayers, role: DriverRole): RuntimeDriver {
  const { namespace, pods, cache, dataBytes, dataDirectory, buildEnvironment } = settings;
  const leases = leaseApi(settings);
  const lease = role.kind === "servers" ? keepLease(leases, role.identity, role.onSuperseded) : null;
  const api = kubernetesApi(settings, lease === null ? {} : { beforeChange: lease.sure });
  const leader = lease === null ? null : leadership(settings, lease);
  const data =
    role.kind === "servers" && pods.storageClass !== null ? new DataClaims(api, pods.storageClass, dataBytes) : null;
  const probe = cachedProbe(() => probeCluster(api, pods, probeMs));
  // One process tests it for all, unless each has to know it before it starts anything.
  const isTested = role.kind === "servers" || settings.network.isRequired;
  const network = isTested ? kept(() => networkOf(api, settings), { isGood: isEnforced, ...networkAges }) : null;
  const { isRequired: isNetworkRequired } = settings.network;
  const host = kubernetesHost({ namespace, dataDirectory, probe, network, isNetworkRequired, data: data ?? noData });
  const owner =
    role.kind === "servers"
      ? { id: role.identity.id, lifetimeMs: null }
      : { id: randomUUID(), lifetimeMs: inspectionMs };
  const isolation = isNetworkRequired ? host.selfTest : null;
  const waiting =
    role.kind === "servers" && settings.waitingKey !== null ? new WaitingPods(api, settings.waitingKey) : null;
  const prewarmedPods = waiting === null ? 0 : settings.prewarmedPods;
  const parts = { api, layers, pythons: host.pythons, isolation, settings: pods, owner, placeMs, data, waiting };
  const servers = new KubernetesServers({ ...parts, prewarmedPods });
  return {
    name: "kubernetes",
    capabilities: new Set<Capability>([
      ...(data === null ? [] : (["lastingData"] as const)),
      ...(prewarmedPods === 0 ? [] : (["prewarm"] as const)),
    ]),
    maxPrewarmed: prewarmedPods,
    servers,
    builds: new PodBuilds(api, { pod: pods, cache, layers, buildEnvironment }),
    host,
    ...(leader !== null && { lead: leader.lead }),
    ...(lease !== null && { sure: lease.sure }),
    async leave() {
      await leader?.end();
    },
    async close() {
      await servers.close();
      await leader?.end();
      await Promise.all([api.close(), leases.close()]);
    },
  };
}

/** Keeps the lease, and leads callers here while it does. */
function leadership(settings: KubernetesSettings, lease: KeptLease) {
  const { leaderService: service } = settings;
  let api: KubernetesApi | null = null;
  let endpoint: LeaderEndpoint | null = null;
  return {
    lead(port: number, onError: (error: unknown) => void) {
      if (service === null) return;
      api = kubernetesApi({ ...settings, namespace: service.namespace }, { beforeChange: lease.sure });
      endpoint = keepLeaderEndpoint(api, service, { port, onError });
    },
    async end() {
      // The next leader takes its place anyway.
      await endpoint?.withdraw().catch(() => {});
      await lease.release();
      await api?.close();
    },
  };
}

/** Resolves when this process is the one that runs servers. */
export async function claimClusterServers(
  settings: KubernetesSettings,
  onWaiting: () => Promise<void>,
): Promise<RunnerIdentity> {
  const api = leaseApi(settings);
  try {
    return await claimLease(api, { onWaiting });
  } finally {
    await api.close();
  }
}

export async function testCluster(settings: KubernetesSettings): Promise<Isolation> {
  const api = kubernetesApi(settings);
  try {
    const probe = cachedProbe(() => probeCluster(api, settings.pods, probeMs));
    const network = () => networkOf(api, settings);
    const { isRequired: isNetworkRequired } = settings.network;
    return await kubernetesHost({ ...settings, probe, network, isNetworkRequired, data: noData }).selfTest();
  } finally {
    await api.close();
  }
}

/** Policies and plug-ins change while a runner runs. Each test makes two pods. */
const networkAges = { goodMs: 600_000, badMs: 60_000 };

const isEnforced = (found: NetworkFound) => "reached" in found && found.reached.length === 0 && found.isCalled;

async function networkOf(
  api: KubernetesApi,
  { api: location, pods, network }: Pick<KubernetesSettings, "api" | "pods" | "network">,
): Promise<NetworkFound> {
  try {
    const { server } = await connectionOf(location);
    const { hostname, port } = new URL(server);
    const apiServer: Target = {
      name: "the API server",
      host: hostname.replace(/^\[|\]$/g, ""),
      port: Number(port || 443),
    };
    return await testNetwork(api, {
      settings: pods,
      targets: [apiServer, ...network.targets],
      timeoutMs: probeMs,
    });
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}
