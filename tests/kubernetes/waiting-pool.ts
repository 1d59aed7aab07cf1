import { createHash } from "node:crypto";
import { parseAllDocuments } from "yaml";
import { renderText, valuesOf } from "../chart/render.ts";
import type { Cluster } from "./cluster.ts";

export type PoolOptions = {
  readonly namespace: string;
  readonly image: string;
  readonly replicas: number;
  /** TOWPATH_SERVER_* that the chart gets. */
  readonly settings?: Readonly<Record<string, string>>;
};

/** A key as the runner derives it, for drivers without a runner. */
export const testWaitingKey: Uint8Array = createHash("sha256").update("waiting").digest();

/** Makes the chart's Deployment of waiting pods, or changes it. They start once a runner has made their key. */
export async function deployWaitingPods(cluster: Cluster, options: PoolOptions): Promise<void> {
  const { namespace, image, replicas, settings = {} } = options;
  const [repository, tag] = image.split(":");
  const values = { "serversImage.repository": repository, "serversImage.tag": tag, "tenants.namespace": namespace };
  const text = await renderText(
    ...valuesOf("smallest"),
    ...Object.entries(values).map(([name, value]) => `--set-string=${name}=${value}`),
    ...Object.entries(settings).map(([name, value]) => `--set-string=settings.${name}=${value}`),
    "--set-string=serversImage.pullPolicy=Never",
    `--set=tenants.waiting.replicas=${replicas}`,
    "--show-only=templates/tenants-waiting.yaml",
  );
  const [deployment] = parseAllDocuments(text).map((document) => document.toJS());
  await cluster.create(namespace, deployment);
}

/** Resolves when so many pods wait. */
export async function untilWaiting(cluster: Cluster, namespace: string, count: number): Promise<void> {
  const until = Date.now() + 120_000;
  for (;;) {
    const waiting = await waitingPods(cluster, namespace);
    if (waiting.filter(({ ready }) => ready).length >= count) return;
    if (Date.now() > until) throw new Error(`Only these pods wait: ${JSON.stringify(waiting)}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

export async function waitingPods(cluster: Cluster, namespace: string) {
  const columns = '{range .items[*]}{.metadata.name} {.status.conditions[?(@.type=="Ready")].status}{"\\n"}{end}';
  const listed = await cluster.kubectl(
    "-n",
    namespace,
    "get",
    "pods",
    "-l=towpath.dev/role=waiting",
    `-o=jsonpath=${columns}`,
  );
  return listed
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.split(" "))
    .map(([name = "", ready]) => ({ name, ready: ready === "True" }));
}
