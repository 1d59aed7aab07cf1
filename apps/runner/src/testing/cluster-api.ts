import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What an API server answers to a runner: the lease, one pod whose server runs, and its log. */
type ClusterApi = {
  /** The pod's instance. Resolves to the path of a kubeconfig. */
  open(directory: string, instanceId: string, memo: object): Promise<string>;
  /** The pod prints lines: records of stdout. */
  print(lines: readonly { readonly text: string; readonly time: Date }[]): void;
  /** The next request for the log is answered as by a kubelet that has just been started. */
  forgetPod(): void;
  close(): Promise<void>;
};

const namespace = "tenants";
/** Of the lease, by which a runner's pods are labelled. */
const owner = "0199a000-0000-7000-8000-00000000000a";
/** Servers of pods listen at a port that is always the same, so this one has an address of its own. */
const podAddress = `127.${1 + (process.pid % 250)}.${1 + (Date.now() % 250)}.2`;
const podPort = 8000;

export async function startClusterApi(): Promise<ClusterApi> {
  let pod: object | null = null;
  let secret: object | null = null;
  let lease: { metadata: { resourceVersion: string } } | null = null;
  let version = 1;
  let log = "";
  let position = 0;
  let isForgotten = false;
  const followers = new Set<ServerResponse>();
  const json = (response: ServerResponse, status: number, body: object) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  const refuse = (response: ServerResponse, code: number) => json(response, code, { kind: "Status", code });

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://localhost");
    const text = (await request.setEncoding("utf8").toArray()).join("");
    const [, kind = "", name, part] =
      /\/namespaces\/tenants\/([^/]+)(?:\/([^/]+))?(?:\/([^/]+))?$/.exec(pathname) ?? [];
    const isGet = request.method === "GET";
    if (kind === "leases") {
      const given = text === "" ? null : JSON.parse(text);
      if (given === null) return lease === null ? refuse(response, 404) : json(response, 200, lease);
      if (lease !== null && given.metadata.resourceVersion !== lease.metadata.resourceVersion)
        return refuse(response, 409);
      const written = { ...given, metadata: { ...given.metadata, uid: owner, resourceVersion: String(++version) } };
      lease = written;
      return json(response, 200, written);
    }
    if (part === "log") {
      if (isForgotten) {
        isForgotten = false;
        return refuse(response, 404);
      }
      response.writeHead(200, { "content-type": "text/plain" }).write(log);
      followers.add(response);
      return response.once("close", () => followers.delete(response));
    }
    if (isGet && name === undefined && searchParams.get("watch") === "true")
      return response.writeHead(200).flushHeaders();
    const items = kind === "pods" ? [pod] : kind === "secrets" ? [secret] : [];
    if (isGet && name === undefined)
      return json(response, 200, { items: items.filter(Boolean), metadata: { resourceVersion: "1" } });
    // Nobody may make the pods that try the network.
    return refuse(response, 403);
  };
  const server = createServer((request, response) => void answer(request, response));
  const inPod = createServer((_, response) =>
    json(response, 200, { state: "ready", kind: "MCPServer", frameworks: {}, importMs: 1 }),
  );
  server.listen(0, "127.0.0.1");
  inPod.listen(podPort, podAddress);
  await Promise.all([once(server, "listening"), once(inPod, "listening")]);
  return {
    async open(directory, instanceId, memo) {
      const { port } = server.address() as AddressInfo;
      const metadata = { name: `server-${instanceId}`, uid: instanceId, resourceVersion: "1" };
      const labels = { "towpath.dev/role": "server", "towpath.dev/owner": owner, "towpath.dev/instance": instanceId };
      const containerStatuses = [{ name: "server", restartCount: 0, state: { running: {} } }];
      pod = {
        metadata: { ...metadata, labels },
        status: { phase: "Running", podIP: podAddress, hostIP: podAddress, containerStatuses },
      };
      const base64 = (value: string) => Buffer.from(value).toString("base64");
      secret = { metadata, data: { secret: base64("the secret"), memo: base64(JSON.stringify(memo)) } };
      const path = `${directory}/kubeconfig`;
      const named = { name: "test" };
      const config = {
        "current-context": "test",
        contexts: [{ ...named, context: { cluster: "test", user: "test" } }],
        clusters: [{ ...named, cluster: { server: `http://127.0.0.1:${port}` } }],
        users: [{ ...named, user: { token: "test" } }],
      };
      await writeFile(path, JSON.stringify(config));
      return path;
    },
    print(lines) {
      for (const { text, time } of lines) {
        position += Buffer.byteLength(text) + 1;
        const record = `o ${position} ${time.getTime()} ${text}\n`;
        log += record;
        for (const follower of followers) follower.write(record);
      }
    },
    forgetPod() {
      isForgotten = true;
    },
    async close() {
      for (const each of [server, inPod]) {
        each.closeAllConnections();
        each.close();
      }
    },
  };
}

export const clusterSettings = (kubeconfig: string) => ({
  TOWPATH_DRIVER: "kubernetes",
  TOWPATH_KUBERNETES_CONFIG: kubeconfig,
  TOWPATH_KUBERNETES_NAMESPACE: namespace,
  TOWPATH_KUBERNETES_IMAGE: "servers:1",
  TOWPATH_ARTIFACTS: "s3://layers",
  TOWPATH_ARTIFACTS_ENDPOINT: "http://127.0.0.1:1",
  TOWPATH_ARTIFACTS_ACCESS_KEY_ID: "id",
  TOWPATH_ARTIFACTS_SECRET_ACCESS_KEY: "key",
});
