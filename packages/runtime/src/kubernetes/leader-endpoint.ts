import { isIPv6 } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { EndpointSlice } from "kubernetes-types/discovery/v1.js";
import type { KubernetesApi } from "./api/client.ts";
import { managedBy } from "./pod/labels.ts";

/** How the leader makes a Service lead to itself. */
export type LeaderService = {
  /** Of the Service, which has no selector. */
  readonly namespace: string;
  readonly name: string;
  /** IP address of this process's pod. */
  readonly address: string;
};

export type LeaderEndpoint = {
  /** Leads nobody here any more. */
  withdraw(): Promise<void>;
};

const checkMs = 5000;
const tryMs = 500;

/**
 * Makes the one EndpointSlice of a Service lead to this process, and sees to it that it stays so. One object, so that a
 * leader takes the place of the one before, even of one that was killed.
 *
 * @param api of the Service's namespace; refuses changes when another one leads
 * @param onError gets why callers can't be led here for now
 */
export function keepLeaderEndpoint(
  api: KubernetesApi,
  service: LeaderService,
  options: { readonly port: number; readonly onError: (error: unknown) => void },
): LeaderEndpoint {
  const stopped = new AbortController();
  const { signal } = stopped;
  const name = `${service.name}-leader`;
  const publish = async () => {
    const slice = sliceOf(service, name, options.port);
    const found = await api.get("endpointslices", name);
    if (found !== null) {
      if (leadsTo(found) !== leadsTo(slice))
        await api.replace("endpointslices", { ...found, ...slice, metadata: found.metadata });
      return;
    }
    const owner = await api.get("services", service.name);
    if (owner === null) throw new Error(`There is no Service ${service.name} in the namespace ${service.namespace}.`);
    const { uid } = owner.metadata;
    const ownerReferences = [{ apiVersion: "v1", kind: "Service", name: service.name, uid }];
    await api.create("endpointslices", { ...slice, metadata: { ...slice.metadata, ownerReferences } });
  };
  const keeping = (async () => {
    while (!signal.aborted) {
      const isPublished = await publish().then(
        () => true,
        (error: unknown) => {
          options.onError(error);
          return false;
        },
      );
      await sleep(isPublished ? checkMs : tryMs, undefined, { signal, ref: false }).catch(() => {});
    }
  })();
  return {
    async withdraw() {
      stopped.abort();
      await keeping;
      const found = await api.get("endpointslices", name);
      if (found !== null && leadsTo(found) === leadsTo(sliceOf(service, name, options.port)))
        await api.delete("endpointslices", name, { uid: found.metadata.uid });
    },
  };
}

const sliceOf = ({ name: service, address }: LeaderService, name: string, port: number) => ({
  metadata: {
    name,
    labels: {
      ...managedBy,
      "kubernetes.io/service-name": service,
      "endpointslice.kubernetes.io/managed-by": "towpath",
    },
  },
  addressType: isIPv6(address) ? "IPv6" : "IPv4",
  // The name of the Service's port.
  ports: [{ name: "http", port, protocol: "TCP" }],
  endpoints: [{ addresses: [address], conditions: { ready: true } }],
});

const leadsTo = ({ endpoints, ports }: EndpointSlice): string =>
  JSON.stringify([
    endpoints?.map(({ addresses, conditions }) => [addresses, conditions?.ready]),
    ports?.map(({ port }) => port),
  ]);
