import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { shortDirectory } from "../testing/short-directory.ts";
import { KubernetesApi } from "./api/client.ts";
import { connectionOf } from "./api/connection.ts";
import { DataClaims } from "./data-claims.ts";
import { serverPort } from "./pod/server-pod.ts";
import { KubernetesServers } from "./server/kubernetes-servers.ts";

const podAddress = `127.${1 + (process.pid % 250)}.${1 + (Date.now() % 250)}.3`;

async function listen(handle: RequestListener, port: number, host: string): Promise<number> {
  const server = createServer(handle).listen(port, host);
  await once(server, "listening");
  onTestFinished(() => void server.close().closeAllConnections());
  return (server.address() as AddressInfo).port;
}

/** A stand-in for an API server, whose new pods have a status. tests/kubernetes has a real cluster. */
async function apiWith(statusOfPods: () => object): Promise<KubernetesApi> {
  const watching = new Set<ServerResponse>();
  const port = await listen(
    async (request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? "", "http://localhost");
      const text = (await request.setEncoding("utf8").toArray()).join("");
      if (searchParams.get("watch") === "true") {
        watching.add(response.writeHead(200));
        return response.flushHeaders();
      }
      response.writeHead(request.method === "POST" ? 201 : 200, { "content-type": "application/json" });
      if (request.method === "GET") return response.end('{"items":[],"metadata":{"resourceVersion":"1"}}');
      const given = request.method === "POST" ? JSON.parse(text) : { metadata: { name: pathname.split("/").at(-1) } };
      const { name } = given.metadata;
      const metadata = {
        ...given.metadata,
        uid: name,
        resourceVersion: "2",
        creationTimestamp: "2026-01-01T00:00:00Z",
      };
      const gone = JSON.stringify({ type: "DELETED", object: { metadata } });
      if (request.method === "DELETE") for (const watcher of watching) watcher.write(`${gone}\n`);
      const status = pathname.endsWith("/pods") ? statusOfPods() : {};
      return response.end(JSON.stringify({ ...given, metadata, status }));
    },
    0,
    "127.0.0.1",
  );
  const directory = await shortDirectory();
  const path = join(directory, "kubeconfig");
  const named = { name: "test" };
  const config = {
    "current-context": "test",
    contexts: [{ ...named, context: { cluster: "test", user: "test" } }],
    clusters: [{ ...named, cluster: { server: `http://127.0.0.1:${port}` } }],
    users: [{ ...named, user: { token: "test" } }],
  };
  await writeFile(path, JSON.stringify(config));
  return new KubernetesApi(() => connectionOf({ kind: "kubeconfig", path }), "tenants");
}

test("RUN-7 BLD-19 a storage class that doesn't exist is the problem of data until a server gets its volume", async () => {
  const message = "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims.";
  const conditions = [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message }];
  let status: object = { phase: "Pending", conditions };
  const api = await apiWith(() => status);
  const data = new DataClaims(api, "none-such", 2 ** 30);
  const servers = new KubernetesServers({
    api,
    data,
    layers: { address: async (digest) => `http://127.0.0.1:1/${digest}`, receive: async (digest) => ({ digest }) },
    pythons: { list: async () => [], find: async () => "3.11.2", bring: async () => ({ ok: false, reason: "" }) },
    isolation: null,
    settings: {
      image: "servers:1",
      imagePullPolicy: "Never",
      pullSecrets: [],
      runtimeClass: null,
      storageClass: "none-such",
    },
    owner: { id: "runner-1", lifetimeMs: null },
    placeMs: 1,
    waiting: null,
    prewarmedPods: 0,
  });
  onTestFinished(async () => {
    await servers.close();
    await api.close();
  });
  const start = (digit: number) =>
    servers.start(
      {
        instanceId: `01936d3a-0000-7000-8000-00000000000${digit}`,
        startTimeoutMs: 60_000,
        memo: "a memo",
        server: {
          layers: { dependencies: "a".repeat(64), code: "b".repeat(64) },
          pythonVersion: "3.11.2",
          entrypoint: "server.py:mcp",
          environment: {},
          limits: { memoryBytes: 2 ** 29, processes: 256, cpus: 1, tmpBytes: 2 ** 26 },
          network: "internet",
          dataVolume: "01936d3a-0000-7000-8000-00000000000d",
        },
      },
      () => {},
    );
  expect(data.problem()).toBeNull();
  await expect(start(1)).rejects.toMatchObject({ code: "no_room" });
  expect(data.problem()).toBe(
    `Servers that keep data don't start: ${message} Check that TOWPATH_KUBERNETES_STORAGE_CLASS and TOWPATH_KUBERNETES_CACHE_STORAGE_CLASS name classes that kubectl get storageclass lists.`,
  );
  const ready = JSON.stringify({ state: "ready", kind: "MCPServer", frameworks: {}, importMs: 1 });
  await listen((_, response) => response.end(ready), serverPort, podAddress);
  status = { phase: "Running", podIP: podAddress };
  expect(await start(2)).toMatchObject({ ok: true });
  expect(data.problem()).toBeNull();
});
