import { request } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { connectionOf, type KubernetesApi, tinyServer } from "@towpath/runtime/testing/cluster";
import type { Cluster } from "./cluster.ts";

/** A server as an ordinary Deployment that is scaled from 0 to 1: what the driver is compared with. */
export type PlainDeployment = {
  /** Prepares its next start: it gets the Secret of a server's pod. */
  prepare(pod: string): Promise<void>;
  /** Resolves when it answers. */
  start(): Promise<void>;
  /** Resolves when its pod is gone. */
  stop(): Promise<void>;
};

const name = "plain";
const labels = { app: name };

/** `pod`: that of a server, whose containers it gets, in the order in which pods usually have them. */
export async function openPlainDeployment(cluster: Cluster, api: KubernetesApi, pod: string): Promise<PlainDeployment> {
  const spec = (await api.get("pods", pod))?.spec;
  if (spec === undefined) throw new Error("The pod is gone.");
  const { containers, volumes = [], securityContext } = spec;
  const only = (container: string) => containers.filter((each) => each.name === container);
  await cluster.create(api.namespace, {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name },
    spec: {
      replicas: 0,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          terminationGracePeriodSeconds: 1,
          securityContext,
          initContainers: only("fetch"),
          containers: only("server"),
          volumes: volumes.map((volume) =>
            volume.secret === undefined ? volume : { ...volume, secret: { ...volume.secret, secretName: name } },
          ),
        },
      },
    },
  });
  const scale = await scaler(cluster, api.namespace);
  const pods = async () => (await api.list("pods", labels)).items;
  let secret = "";
  return {
    async prepare(from) {
      const found = await api.get("secrets", from);
      if (found?.data === undefined) throw new Error("The Secret is gone.");
      secret = Buffer.from(found.data.secret ?? "", "base64").toString();
      await api.delete("secrets", name);
      await api.create("secrets", { metadata: { name }, data: found.data });
    },
    async start() {
      await scale(1);
      for (;;) {
        const host = (await pods())[0]?.status?.podIP;
        const endpoint = host === undefined ? undefined : ({ kind: "tcp", host, port: 8000, secret } as const);
        if (endpoint && (await tinyServer.get(endpoint, "/-/towpath/status", 1000))?.includes("ready")) return;
        await sleep(20);
      }
    },
    async stop() {
      await scale(0);
      while ((await pods()).length > 0) await sleep(100);
    },
  };
}

/** By one request, as the driver makes it, not by a process. */
async function scaler(cluster: Cluster, namespace: string): Promise<(replicas: number) => Promise<void>> {
  const { server, tls } = await connectionOf({ kind: "kubeconfig", path: cluster.kubeconfig });
  const url = `${server}/apis/apps/v1/namespaces/${namespace}/deployments/${name}/scale`;
  const headers = { "content-type": "application/merge-patch+json" };
  return (replicas) =>
    new Promise((resolve, reject) => {
      const asked = request(url, { ...tls, method: "PATCH", headers }, (response) => {
        response.resume().once("end", () => {
          if (response.statusCode === 200) resolve();
          else reject(new Error(`The Deployment could not be scaled: ${response.statusCode}`));
        });
      });
      asked.once("error", reject).end(JSON.stringify({ spec: { replicas } }));
    });
}
