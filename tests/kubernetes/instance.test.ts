import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as LegacyTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { openDatabase } from "@towpath/db";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "@towpath/db/embedded";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { copyProject } from "../bench/copy-project.ts";
import { modernCall } from "../instance/modern-call.ts";
import { repositoryRoot } from "../instance/towpath-process.ts";
import { type S3Service, startVersitygw } from "../s3/versitygw.ts";
import { auditMark, changesSince } from "./audit-log.ts";
import { clusterOf, nodeAddress } from "./cluster.ts";
import { openPlatform, type Platform } from "./platform.ts";
import { importServersImage } from "./servers-image.ts";
import { deployWaitingPods, untilWaiting, waitingPods } from "./waiting-pool.ts";

// A whole instance on the cluster: its processes are the node's, its servers and builds are pods. The tests build on each other.

const run = promisify(execFile);
const cluster = clusterOf(inject("clusterDirectory"));
const namespace = `instance-${process.pid}`;
let directory: string;
let postgres: EmbeddedPostgres;
let service: S3Service;
let database: ReturnType<typeof openDatabase>;
let platform: Platform;
let image: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "tp-k8s-"));
  postgres = await startEmbeddedPostgres({
    dataDirectory: join(directory, "pg"),
    socketDirectory: join(directory, "s"),
    durable: false,
  });
  database = openDatabase(postgres.url, { maxConnections: 2 });
  service = await startVersitygw(join(directory, "buckets"), nodeAddress);
  await service.newBucket("towpath");
  await cluster.createNamespace(namespace);
  await cluster.kubectl("label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted");
  image = await importServersImage(cluster, directory);
  platform = await openPlatform(directory, {
    ...service.settings,
    DATABASE_URL: postgres.url,
    TOWPATH_ARTIFACTS: "s3://towpath/of",
    TOWPATH_REPOSITORIES: "bundles",
    TOWPATH_DRIVER: "kubernetes",
    TOWPATH_KUBERNETES_CONFIG: cluster.kubeconfig,
    TOWPATH_KUBERNETES_NAMESPACE: namespace,
    TOWPATH_KUBERNETES_IMAGE: image,
    TOWPATH_KUBERNETES_IMAGE_PULL_POLICY: "Never",
    TOWPATH_KUBERNETES_WAITING_PODS: "yes",
    TOWPATH_LEASE_MS: "1000",
    TOWPATH_STOP_AFTER_MS: "20000",
  });
  await run(join(repositoryRoot, "towpath"), ["migrate"], { env: { ...process.env, DATABASE_URL: postgres.url } });
  await Promise.all((["runner-1", "worker-1"] as const).map((name) => platform.start(name)));
  await Promise.all((["web-1", "gateway-1", "gateway-2"] as const).map((name) => platform.start(name)));
}, 900_000);
afterAll(async () => {
  await platform?.stop();
  await database?.close();
  await service?.stop();
  await postgres?.stop();
  await cluster.kubectl("delete", "namespace", namespace, "--wait=false");
  await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}, 60_000);

const name = "on-a-cluster";
const source = `
import os
import socket

from mcp.server.mcpserver import Context, MCPServer

mcp = MCPServer("Sample")
counts = {}
print("ready on a cluster", flush=True)


@mcp.tool()
def greeting() -> str:
    """Says what its variable says."""
    return f"{os.environ['GREETING']} from {socket.gethostname()}"


@mcp.tool()
def count(ctx: Context) -> int:
    """Counts the calls of a session."""
    session = ctx.headers["mcp-session-id"]
    counts[session] = counts.get(session, 0) + 1
    print("counted", counts[session], flush=True)
    return counts[session]
`;

async function deploy(server: string, ...options: readonly string[]): Promise<string> {
  const code = join(directory, server);
  await mkdir(code, { recursive: true });
  await writeFile(join(code, "server.py"), source);
  await writeFile(join(code, "requirements.txt"), "mcp>=2,<3\nuvicorn\n");
  return await platform.terminal("deploy", code, "--name", server, "--public", ...options);
}
const urlAt = (gateway: 0 | 1) => `${platform.gateways[gateway]}/${name}/mcp`;
const rows = async <Row extends object>(sql: string): Promise<Row[]> => (await database.pool.query(sql)).rows;

/** Names of pods with a role, without those that try the network. */
async function podsOf(role: "server" | "build"): Promise<string[]> {
  const output = ["-o=jsonpath={.items[*].metadata.name}"];
  const listed = await cluster.kubectl(
    "-n",
    namespace,
    "get",
    "pods",
    `-l=towpath.dev/role=${role},!towpath.dev/probe`,
    ...output,
  );
  return listed.split(" ").filter((each) => each !== "");
}

/** The tool's answer. @throws Error for any other */
async function greetingAt(gateway: 0 | 1): Promise<string> {
  const answer = await fetch(urlAt(gateway), modernCall("greeting", {}, "cluster"));
  const text = await answer.text();
  const found = /hello from ([\w-]+)/.exec(text);
  if (answer.status !== 200 || found === null) throw new Error(`${answer.status} ${text}`);
  return found[1] ?? "";
}

test("RUN-7 RUN-4 a push is built in pods and goes live as one, which clients of both eras call through both gateways", async () => {
  expect(await deploy(name, "--env", "GREETING=hello")).toContain(`Live: ${urlAt(0)}`);
  for (const gateway of [0, 1] as const) {
    const modern = new Client({ name: "cluster", version: "1" }, { versionNegotiation: { mode: "auto" } });
    await modern.connect(new StreamableHTTPClientTransport(new URL(urlAt(gateway))));
    expect((await modern.listTools()).tools.map((tool) => tool.name)).toEqual(["greeting", "count"]);
    expect(await modern.callTool({ name: "greeting", arguments: {} })).toMatchObject({
      content: [{ text: expect.stringMatching(/^hello from server-/) }],
    });
    await modern.close();
    expect(await podsOf("server")).toEqual([await greetingAt(gateway)]);
  }
  expect(await podsOf("build")).toEqual([]);
}, 400_000);

test("RUN-7 GW-14 a session that is opened at one gateway goes on at the other", async () => {
  const transport = new LegacyTransport(new URL(urlAt(0)));
  const opened = new LegacyClient({ name: "cluster", version: "1" });
  await opened.connect(transport);
  const resumed = new LegacyClient({ name: "cluster", version: "1" });
  // With a session id the client doesn't open one of its own.
  await resumed.connect(new LegacyTransport(new URL(urlAt(1)), { sessionId: transport.sessionId ?? "" }));
  const count = async (client: LegacyClient) => (await client.callTool({ name: "count", arguments: {} })).content;
  expect(await count(opened)).toMatchObject([{ text: "1" }]);
  expect(await count(resumed)).toMatchObject([{ text: "2" }]);
  expect(await count(opened)).toMatchObject([{ text: "3" }]);
  await resumed.close();
  await opened.close();
});

const linesSql = `SELECT line, count(*)::int AS times FROM server_log JOIN project ON project.id = server_log.project_id
  WHERE project.name = '${name}' AND stream = 'stdout' GROUP BY line ORDER BY min(server_log.time), min(server_log.id)`;

test("RUN-7 RUN-5 GW-7 what the server prints and each call of both gateways are in the logs", async () => {
  await expect
    .poll(() => rows(linesSql))
    .toEqual(["ready on a cluster", "counted 1", "counted 2", "counted 3"].map((line) => ({ line, times: 1 })));
  const calls = `SELECT target, http_status AS status, count(*)::int AS times FROM request_log
    JOIN project ON project.id = request_log.project_id
    WHERE project.name = '${name}' AND method = 'tools/call' GROUP BY 1, 2 ORDER BY 1`;
  await expect
    .poll(() => rows(calls))
    .toEqual([
      { target: "count", status: 200, times: 3 },
      { target: "greeting", status: 200, times: 4 },
    ]);
});

async function stopServer(): Promise<void> {
  const [deployment] = await rows<{ id: string }>(
    `SELECT deployment_id AS id FROM route JOIN project ON project.id = route.project_id WHERE name = '${name}'`,
  );
  await platform.runner.stop(deployment?.id ?? "");
}

test("RUN-7 RUN-3 OPS-11 an idle server has no pod, and the next call brings one by two changes of the cluster", async () => {
  await expect.poll(() => podsOf("server"), { timeout: 90_000 }).toEqual([]);
  const tookMs: number[] = [];
  for (let round = 0; round < 5; round++) {
    await stopServer();
    await expect.poll(() => podsOf("server")).toEqual([]);
    const mark = await auditMark(cluster);
    const calledAt = performance.now();
    await greetingAt(round % 2 === 0 ? 0 : 1);
    tookMs.push(Math.round(performance.now() - calledAt));
    expect(await changesSince(cluster, namespace, mark)).toEqual(["create pods", "create secrets"]);
  }
  const sorted = tookMs.toSorted((one, other) => one - other);
  process.stdout.write(`from stopped to answering: ${sorted.join(", ")} ms, median ${sorted[2]} ms\n`);
}, 240_000);

async function putToSleep(): Promise<void> {
  await stopServer();
  await expect.poll(() => podsOf("server"), { timeout: 30_000 }).toEqual([]);
}

test("RUN-7 RUN-3 fifty callers at once through both gateways wake one pod, and one that leaves takes nobody along", async () => {
  await putToSleep();
  const mark = await auditMark(cluster);
  const left = new AbortController();
  const first = fetch(urlAt(0), { ...modernCall("greeting", {}, "cluster"), signal: left.signal }).then(
    ({ status }) => status,
    () => "left",
  );
  await expect.poll(() => changesSince(cluster, namespace, mark), { interval: 50 }).toContain("create pods");
  const others = Array.from({ length: 50 }, (_, at) => greetingAt(at % 2 === 0 ? 0 : 1));
  await sleep(100);
  left.abort();
  expect(new Set(await Promise.all(others)).size).toBe(1);
  expect(await first).toBe("left");
  expect(await changesSince(cluster, namespace, mark)).toEqual(["create pods", "create secrets"]);
}, 120_000);

/** Names of tools as a gateway lists them. */
async function toolsAt(gateway: 0 | 1, server: string): Promise<string[]> {
  const client = new Client({ name: "cluster", version: "1" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${platform.gateways[gateway]}/${server}/mcp`)));
  const { tools } = await client.listTools();
  await client.close();
  return tools.map((tool) => tool.name);
}

test("RUN-7 RUN-3 GW-12 a thousand sleeping servers answer lists, and cost no pod and no object of the cluster", async () => {
  await putToSleep();
  const kinds = "all,configmaps,secrets,serviceaccounts,persistentvolumeclaims,endpointslices,leases";
  const objects = async () => {
    const listed = (await cluster.kubectl("-n", namespace, "get", kinds, "-o=name")).split("\n");
    return listed.filter((each) => !each.startsWith("pod/probe-")).toSorted();
  };
  const before = await objects();
  const copies = Array.from({ length: 1000 }, (_, at) => `copy-${at}`);
  await rows(`UPDATE project SET sleeping_lists = 'always' WHERE name = '${name}'`);
  for (const copy of copies) await copyProject(database.pool, name, copy);
  expect(await rows("SELECT count(*)::int AS count FROM route")).toEqual([{ count: 1001 }]);
  const mark = await auditMark(cluster);
  const last = copies.at(-1) ?? "";
  await expect.poll(() => toolsAt(0, last).catch(String), { timeout: 60_000 }).toEqual(["greeting", "count"]);
  for (const [at, copy] of [name, ...copies].entries())
    if (at % 50 === 0)
      expect([copy, await toolsAt(at % 100 === 0 ? 0 : 1, copy)]).toEqual([copy, ["greeting", "count"]]);
  expect(await changesSince(cluster, namespace, mark)).toEqual([]);
  expect(await objects()).toEqual(before);
}, 300_000);

test("RUN-7 RUN-3 OPS-11 a call takes a pod that waits, by two changes of the cluster, and the next one waits soon", async () => {
  await deployWaitingPods(cluster, { namespace, image, replicas: 2 });
  const tookMs: number[] = [];
  for (let round = 0; round < 5; round++) {
    await putToSleep();
    await untilWaiting(cluster, namespace, 2);
    const waiting = (await waitingPods(cluster, namespace)).map((pod) => pod.name);
    const mark = await auditMark(cluster);
    const calledAt = performance.now();
    expect(waiting).toContain(await greetingAt(round % 2 === 0 ? 0 : 1));
    tookMs.push(Math.round(performance.now() - calledAt));
    expect(await changesSince(cluster, namespace, mark)).toEqual(["patch pods", "create secrets"]);
  }
  const sorted = tookMs.toSorted((one, other) => one - other);
  process.stdout.write(
    `from stopped to answering, in a pod that waited: ${sorted.join(", ")} ms, median ${sorted[2]} ms\n`,
  );
}, 240_000);

/** Calls the server through both gateways until it is stopped. */
function keepCalling() {
  const ended = new AbortController();
  const pods = new Set<string>();
  const failed: string[] = [];
  const calling = ([0, 1] as const).map(async (gateway) => {
    while (!ended.signal.aborted) {
      await greetingAt(gateway).then(
        (pod) => pods.add(pod),
        (error) => failed.push(String(error)),
      );
      await sleep(200);
    }
  });
  return async () => {
    ended.abort();
    await Promise.all(calling);
    return { pods: [...pods], failed };
  };
}
const runnerAnswers = () =>
  expect
    .poll(
      () =>
        platform.runner.health().then(
          () => true,
          () => false,
        ),
      { timeout: 60_000, interval: 200 },
    )
    .toBe(true);
const doubledSql = `SELECT instance_id, line FROM server_log WHERE line LIKE 'ready%' GROUP BY 1, 2 HAVING count(*) > 1`;

test("RUN-7 RUN-8 a runner that is killed and started again has the server's pod; no call fails, no line comes twice", async () => {
  const pod = await greetingAt(0);
  const stop = keepCalling();
  await sleep(1000);
  await platform.kill("runner-1");
  await platform.start("runner-1");
  await runnerAnswers();
  await sleep(2000);
  expect(await stop()).toEqual({ pods: [pod], failed: [] });
  expect(await podsOf("server")).toEqual([pod]);
  expect(await rows(doubledSql)).toEqual([]);
}, 120_000);

test("RUN-7 RUN-8 a build whose worker is killed goes live", async () => {
  const deployed = deploy("built-twice", "--env", "GREETING=hello");
  await expect.poll(() => podsOf("build"), { timeout: 60_000, interval: 50 }).toHaveLength(1);
  await platform.kill("worker-1");
  expect(await rows("SELECT 1 FROM build WHERE status = 'building'")).toHaveLength(1);
  await platform.start("worker-1");
  expect(await deployed).toContain(`Live: ${platform.gateways[0]}/built-twice/mcp`);
  await expect.poll(() => podsOf("build"), { timeout: 30_000 }).toEqual([]);
}, 240_000);

test("RUN-7 RUN-8 a second runner waits, and serves the same pods when the first one is killed", async () => {
  const pod = await greetingAt(1);
  await platform.start("runner-2");
  const stop = keepCalling();
  await sleep(6000);
  expect(await platform.log("runner-2")).not.toContain("ready");
  await platform.kill("runner-1");
  await runnerAnswers();
  expect(await platform.log("runner-2")).toContain("took over the servers of the previous runner");
  await sleep(2000);
  expect(await stop()).toEqual({ pods: [pod], failed: [] });
  expect(await rows(doubledSql)).toEqual([]);
  await stopServer();
  expect(await greetingAt(0)).not.toBe(pod);
}, 120_000);
