import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { auditMark, changesSince } from "./audit-log.ts";
import { clusterOf } from "./cluster.ts";
import { callTool, type InstanceRig, openInstanceRig } from "./instance-rig.ts";
import { importServersImage } from "./servers-image.ts";
import { deployWaitingPods, untilWaiting } from "./waiting-pool.ts";

// An instance whose runner keeps an interpreter in a pod that waits, for servers that were used lately (decision 077).

const cluster = clusterOf(inject("clusterDirectory"));
const slow = { timeout: 90_000, interval: 200 };
const name = "used-lately";
let rig: InstanceRig;

const source = `
import os
import socket

from mcp.server.mcpserver import MCPServer

mcp = MCPServer("Sample")


@mcp.tool()
def greeting() -> str:
    """Says what its variable says, and where it runs."""
    return f"{os.environ['GREETING']} from {socket.gethostname()}"
`;

beforeAll(async () => {
  rig = await openInstanceRig(cluster, ["runner-1", "worker-1", "web-1", "gateway-1"], {
    TOWPATH_KUBERNETES_WAITING_PODS: "yes",
    TOWPATH_KUBERNETES_PREWARMED_PODS: "1",
    // A gateway that holds one would look for the server that was stopped.
    TOWPATH_LEASE_MS: "1000",
  });
  const image = await importServersImage(cluster, rig.directory);
  await deployWaitingPods(cluster, { namespace: rig.namespace, image, replicas: 2 });
  await untilWaiting(cluster, rig.namespace, 2);
}, 900_000);
afterAll(() => rig?.close(), 60_000);

/** The pod in which the server says that it runs. */
async function podOfGreeting(): Promise<string> {
  const text = await callTool(`${rig.platform.gateways[0]}/${name}/mcp`, "greeting", {});
  return /hello from ([\w-]+)/.exec(text)?.[1] ?? text;
}
const prewarmedPods = async () => {
  const output = "-o=jsonpath={.items[*].metadata.name}";
  const listed = await cluster.kubectl("-n", rig.namespace, "get", "pods", "-l=towpath.dev/prewarmed", output);
  return listed.split(" ").filter((each) => each !== "");
};

test("RUN-3 RUN-7 a call to a server that was used lately wakes it in a pod that has imported, by two changes", async () => {
  await rig.deploy(name, source, "--env", "GREETING=hello");
  const tookMs: number[] = [];
  for (let round = 1; round <= 5; round++) {
    await expect.poll(() => rig.platform.runner.prewarm(), slow).toMatchObject({ ready: 1 });
    const [prewarmed] = await prewarmedPods();
    await rig.stopServer(name);
    await expect.poll(() => rig.podsOf("server"), slow).toEqual([prewarmed]);
    await untilWaiting(cluster, rig.namespace, 2);
    const mark = await auditMark(cluster);
    const calledAt = performance.now();
    expect(await podOfGreeting()).toBe(prewarmed);
    tookMs.push(Math.round(performance.now() - calledAt));
    // The next interpreter is prepared soon after.
    const changes = (await changesSince(cluster, rig.namespace, mark)).slice(0, 2);
    expect(changes.toSorted()).toEqual(["create secrets", "patch pods"]);
    expect(await rig.platform.runner.prewarm()).toMatchObject({ hits: round });
  }
  const sorted = tookMs.toSorted((one, other) => one - other);
  process.stdout.write(`from stopped to answering, prewarmed: ${sorted.join(", ")} ms, median ${sorted[2]} ms\n`);
}, 400_000);
