import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { clusterOf } from "./cluster.ts";
import { callTool, type InstanceRig, openInstanceRig } from "./instance-rig.ts";
import { type ClusterNode, firstNode, secondNode, startNode } from "./node.ts";
import { processGroup } from "./processes.ts";
import { offerVolumes, removeVolumes } from "./test-volumes.ts";

// A second node, which is drained and then lost. The tests build on each other.

const directory = inject("clusterDirectory");
const cluster = clusterOf(directory);
const processes = processGroup(directory);
const storageClass = `nodes-${process.pid}`;
let node: ClusterNode;
let rig: InstanceRig;
beforeAll(async () => {
  node = await startNode(directory, processes, secondNode);
  await node.isReady();
  rig = await openInstanceRig(cluster, ["web-1", "worker-1", "gateway-1", "gateway-2", "runner-1"], {
    TOWPATH_KUBERNETES_STORAGE_CLASS: storageClass,
    TOWPATH_LEASE_MS: "3000",
  });
  await offerVolumes(cluster, rig.directory, storageClass, 1);
}, 900_000);
afterAll(async () => {
  await rig?.close();
  await removeVolumes(cluster, storageClass);
  await cluster.kubectl("uncordon", firstNode.name);
  await cluster.kubectl("delete", "node", secondNode.name);
  await node.cleanUp();
}, 120_000);

const source = `
from mcp.server.mcpserver import MCPServer

mcp = MCPServer("Moved")


@mcp.tool()
def echo(text: str) -> str:
    """Repeats the text."""
    return text
`;
const [server, keeper] = ["moved-server", "keeps-data"];
const urlAt = (gateway: 0 | 1, name = server) => `${rig.platform.gateways[gateway]}/${name}/mcp`;
const call = (gateway: 0 | 1, name = server) => callTool(urlAt(gateway, name), "echo", { text: "hello" });

/** The nodes of all pods of servers that aren't being deleted. */
async function nodesOfServers(): Promise<string[]> {
  const listed = await cluster.kubectl(
    "-n",
    rig.namespace,
    "get",
    "pods",
    "-l=towpath.dev/role=server,!towpath.dev/probe",
    "-o=json",
  );
  type Pods = { items: { metadata: { deletionTimestamp?: string }; spec: { nodeName?: string } }[] };
  const { items } = JSON.parse(listed) as Pods;
  return items.flatMap(({ metadata, spec }) => (metadata.deletionTimestamp === undefined ? [spec.nodeName ?? ""] : []));
}
const linesOf = async (name: string) => {
  const sql = `SELECT line FROM server_log JOIN project ON project.id = project_id WHERE project.name = '${name}'`;
  return (await rig.rows<{ line: string }>(sql)).map(({ line }) => line).join("\n");
};

/** Starts a server at the second node, also if the scheduler prefers the first. */
async function startThere(name: string): Promise<void> {
  await rig.stopServer(name);
  await cluster.kubectl("uncordon", secondNode.name);
  await cluster.kubectl("cordon", firstNode.name);
  await call(0, name);
  await cluster.kubectl("uncordon", firstNode.name);
}

test("RUN-7 OPS-11 a node is drained: its server starts at another one with the next call, and its log says why", async () => {
  await rig.deploy(server, source);
  await startThere(server);
  expect(await nodesOfServers()).toEqual([secondNode.name]);
  const drained = cluster.kubectl("drain", secondNode.name, "--force", "--delete-emptydir-data", "--timeout=60s");
  await expect.poll(() => nodesOfServers(), { timeout: 30_000, interval: 50 }).toEqual([]);
  const begun = performance.now();
  const calls = await Promise.allSettled([call(0), call(1), sleep(1000).then(() => call(0))]);
  process.stdout.write(`Calls waited ${Math.round(performance.now() - begun)} ms for the server of a drained node.\n`);
  expect(calls.map((each) => (each.status === "rejected" ? String(each.reason) : "answered"))).toEqual(
    Array(3).fill("answered"),
  );
  await drained;
  expect(await nodesOfServers()).toEqual([firstNode.name]);
  await expect
    .poll(() => linesOf(server), { timeout: 15_000 })
    .toContain("Stopped: the node of the server is being emptied.");
}, 400_000);

test("RUN-7 RUN-5 OPS-11 a node is lost: another one serves before Kubernetes knows, and what keeps data waits until its volume is free", async () => {
  await rig.deploy(keeper, source);
  await rig.platform.terminal("settings", keeper, "--keep-data");
  for (const name of [keeper, server]) await startThere(name);
  expect(await nodesOfServers()).toEqual([secondNode.name, secondNode.name]);
  // The runner knows the node.
  await sleep(3000);
  const failed: string[] = [];
  const answeredMs: number[] = [];
  const lostAt = performance.now();
  await node.lose();
  while (performance.now() - lostAt < 90_000 && answeredMs.length < 2)
    await Promise.all(
      ([0, 1] as const).map((gateway) =>
        call(gateway).then(
          () => answeredMs.push(Math.round(performance.now() - lostAt)),
          (error) => failed.push(`gateway ${gateway + 1}, ${Math.round(performance.now() - lostAt)} ms: ${error}`),
        ),
      ),
    );
  process.stdout.write(
    `Calls were answered ${answeredMs.join(", ")} ms after the node was lost.\n${failed.join("\n")}\n`,
  );
  // Kubernetes takes 40 s to notice, and 30 more to delete the pod.
  expect(answeredMs[0]).toBeLessThan(40_000);
  // Those that were sent into a connection of the lost node.
  expect(failed.filter((each) => !each.includes(" 502 "))).toEqual([]);
  await expect
    .poll(() => linesOf(server), { timeout: 15_000 })
    .toContain("Stopped: the node of the server doesn't answer any more: it is lost.");

  // Never two pods with one claim.
  await expect(call(0, keeper)).rejects.toThrow(/\/data is in use on the node node-2, which doesn't answer/);
  expect(await nodesOfServers()).toEqual([firstNode.name]);
  await cluster.kubectl("taint", "node", secondNode.name, "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute");
  await expect
    .poll(() => call(0, keeper).catch((error) => String(error)), { timeout: 180_000, interval: 2000 })
    .toContain("hello");
  expect(await nodesOfServers()).toEqual([firstNode.name, firstNode.name]);
}, 600_000);
