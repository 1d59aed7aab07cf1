import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePorts } from "@towpath/role/testing";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { parse } from "yaml";
import { answerEmpty } from "../../apps/gateway/src/testing/clients.ts";
import { createRig, type DeployedServer, type Rig } from "../../apps/gateway/src/testing/rig.ts";
import { storeWorkloadIdentity } from "../../apps/gateway/src/testing/workloads.ts";
import { clusterOf, nodeAddress } from "./cluster.ts";
import { importServersImage } from "./servers-image.ts";

// Pods call a gateway of the node with tokens of their service accounts, whose keys the API server tells accounts only.

const cluster = clusterOf(inject("clusterDirectory"));
const namespace = `identity-${process.pid}`;
const issuer = `https://${nodeAddress}:6443`;
const keys = `${issuer}/openid/v1/jwks`;
let directory: string;
let rig: Rig;
let image: string;
let port: number;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "tp-identity-"));
  await cluster.createNamespace(namespace);
  for (const account of ["planner", "stranger"])
    await cluster.kubectl("-n", namespace, "create", "serviceaccount", account);
  image = await importServersImage(cluster, directory);
  const { clusters } = parse(await readFile(cluster.kubeconfig, "utf8"));
  const { "certificate-authority": file, "certificate-authority-data": data } = clusters[0].cluster;
  await writeFile(join(directory, "ca.crt"), data === undefined ? await readFile(file) : Buffer.from(data, "base64"));
  await writeFile(join(directory, "token"), await cluster.kubectl("-n", namespace, "create", "token", "default"));
  [port = 0] = await freePorts(1);
  rig = await createRig({
    TOWPATH_GATEWAY_HOST: "0.0.0.0",
    TOWPATH_GATEWAY_PORT: String(port),
    TOWPATH_SERVER_URL: `http://${nodeAddress}:${port}/{name}`,
    TOWPATH_WORKLOAD_ISSUER: issuer,
    TOWPATH_WORKLOAD_ISSUER_KEYS: keys,
    TOWPATH_WORKLOAD_ISSUER_CA: join(directory, "ca.crt"),
    TOWPATH_WORKLOAD_ISSUER_TOKEN: join(directory, "token"),
  });
}, 600_000);
afterAll(async () => {
  await rig?.close();
  await cluster.kubectl("delete", "namespace", namespace, "--wait=false");
  await rm(directory, { recursive: true, force: true });
});

const urlOf = ({ label }: DeployedServer) => `http://${nodeAddress}:${port}/${label}/mcp`;
const planner = `system:serviceaccount:${namespace}:planner`;

/** A private server that trusts the service account planner of the namespace. */
async function deploy() {
  const server = await rig.deploy(answerEmpty, { authMode: "towpath-cloud" });
  const id = await storeWorkloadIdentity(rig, server.organizationId, issuer, { subjects: [planner] });
  return { server, id };
}

async function statusWith(server: DeployedServer, token: string): Promise<number> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    authorization: `Bearer ${token.trim()}`,
  };
  const answer = await fetch(urlOf(server), { method: "POST", body, headers });
  await answer.text();
  return answer.status;
}
const tokenOf = (account: string, ...options: readonly string[]) =>
  cluster.kubectl("-n", namespace, "create", "token", account, ...options);

const call = `import json, urllib.error, urllib.request
request = urllib.request.Request(
    "URL",
    json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode(),
    {"content-type": "application/json", "accept": "application/json, text/event-stream",
     "authorization": "Bearer " + open("/tokens/token").read()},
)
try:
    print(urllib.request.urlopen(request, timeout=20).status)
except urllib.error.HTTPError as error:
    print(error.code)`;

/** What a pod of a service account prints that sends its mounted token to a server. */
async function calledBy(account: string, server: DeployedServer): Promise<string> {
  const serviceAccountToken = { audience: urlOf(server), expirationSeconds: 600, path: "token" };
  await cluster.create(namespace, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: `of-${account}` },
    spec: {
      serviceAccountName: account,
      restartPolicy: "Never",
      containers: [
        {
          name: "agent",
          image,
          imagePullPolicy: "Never",
          command: ["python3", "-c", call.replace("URL", urlOf(server))],
          volumeMounts: [{ name: "tokens", mountPath: "/tokens" }],
        },
      ],
      volumes: [{ name: "tokens", projected: { sources: [{ serviceAccountToken }] } }],
    },
  });
  const state = () =>
    cluster.kubectl("-n", namespace, "get", "pod", `of-${account}`, "-o=jsonpath={.status.phase}") as Promise<string>;
  await expect.poll(state, { timeout: 90_000 }).toMatch(/Succeeded|Failed/);
  return (await cluster.kubectl("-n", namespace, "logs", `of-${account}`)).trim();
}

test("KEY-6 pods call with their service accounts' tokens, though the API server tells strangers no keys", {
  timeout: 240_000,
}, async () => {
  const strangers = ["--as=system:anonymous", "--as-group=system:unauthenticated"];
  await expect(cluster.kubectl("get", "--raw=/openid/v1/jwks", ...strangers)).rejects.toThrow("Forbidden");
  const { server, id } = await deploy();
  expect(await calledBy("planner", server)).toBe("200");
  expect(await calledBy("stranger", server)).toBe("401");
  const rows = await rig.rows(server.projectId, 2);
  expect(rows.map(({ principal }) => principal).toSorted()).toEqual(["anonymous", `workload:${id}:${planner}`]);
});

test("KEY-6 a token for another audience or of an account without trust opens nothing, nor does the cluster's name alone", async () => {
  const { server } = await deploy();
  const audience = `--audience=${urlOf(server)}`;
  expect(await statusWith(server, await tokenOf("planner", audience))).toBe(200);
  expect(await statusWith(server, await tokenOf("planner"))).toBe(401);
  expect(await statusWith(server, await tokenOf("default", audience))).toBe(401);
  // Another organization's server, whose members name the operator's address themselves: nobody is sent there.
  const other = await rig.deploy(answerEmpty, { authMode: "towpath-cloud" });
  await storeWorkloadIdentity(rig, other.organizationId, issuer, { subjects: [planner], jwksUrl: keys });
  expect(await statusWith(other, await tokenOf("planner", `--audience=${urlOf(other)}`))).toBe(401);
});
