import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from "@modelcontextprotocol/client";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as LegacyTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { openDatabase } from "@towpath/db";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { chart } from "../chart/render.ts";
import { launchChromium } from "../chromium.ts";
import { allowInBrowser, memoryProvider, openCallback } from "../e2e/authorize.ts";
import { createOrganization, newVisitor, type Visitor } from "../e2e/browser.ts";
import { plainRequirements, plainServer } from "../instance/plain-server.ts";
import { callSteadily, callTool } from "../instance/steady-calls.ts";
import { towpathWith } from "../instance/towpath-process.ts";
import { type S3Service, startVersitygw } from "../s3/versitygw.ts";
import { clusterOf, nodeAddress } from "./cluster.ts";
import { helmIn } from "./helm.ts";
import { enforcePolicies } from "./network-plugin.ts";
import { processGroup } from "./processes.ts";
import { listenElsewhere, reachedFrom } from "./reach.ts";
import { importServersImage } from "./servers-image.ts";
import { startBalancer, startDatabase, startIssuer, startResolver } from "./surroundings.ts";
import { importTowpathImage, towpathImage } from "./towpath-image.ts";

// The chart as a company installs it: its own database, bucket and sign-in. The tests build on each other.

const cluster = clusterOf(inject("clusterDirectory"));
const { kubectl } = cluster;
const namespace = `installed-${process.pid}`;
const tenants = `${namespace}-servers`;
const operatorToken = randomBytes(24).toString("hex");
const roles = ["web", "gateway", "worker", "runner"] as const;
type Role = (typeof roles)[number];

let directory: string;
const cleanUp: (() => unknown)[] = [];
let database: ReturnType<typeof openDatabase>;
let helm: ReturnType<typeof helmIn>;
let browser: Browser;
let owner: Visitor;
let url: string;
let serversUrl: string;
let serversImage: string;
let bucket: S3Service;
const mail = { url: "smtp://mail.example.com", from: "no-reply@example.com" };
let values: Readonly<Record<string, unknown>>;

/** Stops it after the tests, in reverse order. */
function keep<Part extends { stop(): unknown }>(part: Part): Part {
  cleanUp.push(() => part.stop());
  return part;
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "tp-installed-"));
  helm = helmIn(cluster, { namespace, directory });
  keep(await enforcePolicies(cluster, directory));
  const processes = keep(processGroup(directory));
  keep(await startResolver(processes, cluster, join(directory, "dns")));
  const postgres = keep(await startDatabase(directory));
  database = openDatabase(postgres.localUrl, { maxConnections: 2 });
  cleanUp.push(() => database.close());
  bucket = keep(await startVersitygw(join(directory, "buckets"), nodeAddress));
  await bucket.newBucket("towpath");
  const [web, gateway] = await Promise.all([balancerOf("web"), balancerOf("gateway")]);
  [url, serversUrl] = [`http://localhost:${web}`, `http://localhost:${gateway}`];
  const issuer = await startIssuer(processes, url);
  serversImage = await importServersImage(cluster, directory);
  await importTowpathImage(cluster, directory, ["1", "2"]);
  await cluster.createNamespace(namespace);
  await kubectl("label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted");
  const [repository, tag] = serversImage.split(":");
  values = {
    image: { repository: towpathImage, tag: "1", pullPolicy: "Never" },
    serversImage: { repository, tag, pullPolicy: "Never" },
    gatewayApi: { enabled: false },
    urls: { dashboard: url, servers: `${serversUrl}/{name}` },
    instance: { operatorToken },
    database: { url: postgres.url },
    bucket: bucketValues(bucket),
    oidc: issuer.values,
    workloads: { clusterIssuer: true },
    mail,
    ...Object.fromEntries(roles.map((role) => [role, { resources: resourcesOf(role) }])),
    tenants: {
      namespace: tenants,
      networkPolicies: {
        dns: ["10.0.2.3"],
        allow: [{ cidr: `${nodeAddress}/32`, port: Number(new URL(bucketValues(bucket).endpoint).port) }],
      },
    },
  };
  browser = await launchChromium();
  cleanUp.push(() => browser.close());
  owner = await newVisitor(browser);
}, 1_800_000);
afterAll(async () => {
  for (const each of cleanUp.toReversed()) await each();
  await kubectl("delete", "namespace", namespace, tenants, "--ignore-not-found", "--wait=false");
  await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}, 120_000);

/** For a small node, of which gateways get most while others start. */
const resourcesOf = (role: Role) => ({ requests: { cpu: role === "gateway" ? "250m" : "50m", memory: "64Mi" } });

function bucketValues({ settings }: S3Service) {
  return {
    address: "s3://towpath/of",
    endpoint: settings.TOWPATH_ARTIFACTS_ENDPOINT ?? "",
    accessKeyId: settings.TOWPATH_ARTIFACTS_ACCESS_KEY_ID,
    secretAccessKey: settings.TOWPATH_ARTIFACTS_SECRET_ACCESS_KEY,
  };
}

/** Resolves to the port of this machine that leads to the role's Service. */
async function balancerOf(role: "web" | "gateway"): Promise<number> {
  let host: Promise<string> | null = null;
  const found = () => {
    host ??= kubectl("-n", namespace, "get", "service", `towpath-${role}`, "-o=jsonpath={.spec.clusterIP}");
    return host;
  };
  return keep(await startBalancer(async () => ({ host: await found(), port: role === "web" ? 3000 : 8080 }))).port;
}

/** `helm upgrade --install` with the values. @throws Error with what pods say */
async function upgrade(): Promise<void> {
  const file = join(directory, "values.json");
  await writeFile(file, JSON.stringify(values));
  try {
    await helm("upgrade", "--install", "towpath", chart, "--wait", "--timeout=10m", "--values", file);
  } catch (error) {
    const pods = await kubectl("-n", namespace, "get", "pods", "-o=wide");
    const of = ["-l=app.kubernetes.io/instance=towpath", "--tail=25", "--prefix"];
    const logs = await kubectl("-n", namespace, "logs", ...of).catch(String);
    throw new Error(`${error}\n${pods}\n${logs}`, { cause: error });
  }
}

type PodSeen = { readonly name: string; readonly ip: string; readonly restarts: number };

async function podsOf(role: Role): Promise<PodSeen[]> {
  const selector = `-l=app.kubernetes.io/component=${role}`;
  const { items } = JSON.parse(await kubectl("-n", namespace, "get", "pods", selector, "-o=json"));
  return items
    .filter(({ metadata }: { metadata: { deletionTimestamp?: string } }) => !metadata.deletionTimestamp)
    .map(({ metadata, status }: { metadata: { name: string }; status: PodStatus }) => ({
      name: metadata.name,
      ip: status.podIP,
      restarts: status.containerStatuses[0]?.restartCount ?? 0,
    }));
}
type PodStatus = { readonly podIP: string; readonly containerStatuses: readonly { readonly restartCount: number }[] };
const namesOf = async (role: Role) => (await podsOf(role)).map(({ name }) => name).toSorted();

const ownPods = ["pods", "-l=towpath.dev/owner,towpath.dev/role=server"];
const serverPods = async () =>
  (await kubectl("-n", tenants, "get", ...ownPods, "-o=name")).split("\n").filter((name) => name !== "");

async function terminal(...args: readonly string[]): Promise<string> {
  const env = { TOWPATH_URL: url, TOWPATH_API_KEY: operatorToken, XDG_CONFIG_HOME: directory };
  const { status, stdout, stderr } = await towpathWith({ env }, ...args);
  if (status !== 0) throw new Error(`towpath ${args.join(" ")} ended with status ${status}:\n${stdout}${stderr}`);
  return stdout + stderr;
}

async function deploy(server: string, ...options: readonly string[]): Promise<string> {
  const code = join(directory, server);
  await mkdir(code, { recursive: true });
  const before = "import os, socket\nprint('ready on a cluster', flush=True)";
  await writeFile(join(code, "server.py"), plainServer({ identity: "socket.gethostname()" }, before));
  await writeFile(join(code, "requirements.txt"), plainRequirements);
  return await terminal("deploy", code, "--name", server, ...options);
}

test("OPS-2 OPS-11 helm install brings two pods of each role that are ready, none started twice", async () => {
  await upgrade();
  const restarted: string[] = [];
  for (const role of roles) {
    const pods = await podsOf(role);
    expect([role, pods.length]).toEqual([role, 2]);
    for (const { name } of pods.filter(({ restarts }) => restarts > 0))
      restarted.push(await kubectl("-n", namespace, "logs", name, "--previous", "--tail=5"));
  }
  expect(restarted).toEqual([]);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
}, 900_000);

test("OPS-2 AUTH-1 a person signs in at the company's provider and makes an organization", async () => {
  const { page } = owner;
  await page.goto(`${url}/login`, { waitUntil: "domcontentloaded" });
  await signInAtIssuer();
  await createOrganization(page, "Company");
}, 120_000);

/** On the issuer's two pages. */
async function signInAtIssuer(): Promise<void> {
  const { page } = owner;
  await page.locator("input[name=login]").fill("grace");
  await page.locator("input[name=password]").fill("any");
  await page.locator("button[type=submit]").click();
  await page.getByRole("button", { name: "Continue" }).click();
}

let authorization: string;

test("RUN-7 OPS-11 GW-4 a push goes live, and clients of both eras sign in by OAuth and call its tool through both gateways", async () => {
  const resource = `${serversUrl}/inside/mcp`;
  expect(await deploy("inside")).toContain(`Live: ${resource}`);
  const callback = await openCallback();
  const authProvider = memoryProvider(callback.url, "A client");
  const first = new Client({ name: "installed", version: "1" }, { versionNegotiation: { mode: "auto" } });
  const signedOut = first.connect(new StreamableHTTPClientTransport(new URL(resource), { authProvider }));
  await expect(signedOut).rejects.toThrow(UnauthorizedError);
  const answer = await allowInBrowser(owner.page, authProvider.kept.asked ?? "", { email: "grace@example.com" });
  await new StreamableHTTPClientTransport(new URL(resource), { authProvider }).finishAuth(answer);
  await callback.close();
  authorization = `Bearer ${authProvider.kept.tokens?.access_token}`;
  const gateways = await podsOf("gateway");
  expect(gateways).toHaveLength(2);
  for (const { ip } of gateways) {
    const gateway = await startBalancer(async () => ({ host: ip, port: 8080 }));
    const at = new URL(`http://localhost:${gateway.port}/inside/mcp`);
    const options = { requestInit: { headers: { authorization } } };
    const modern = new Client({ name: "installed", version: "1" }, { versionNegotiation: { mode: "auto" } });
    await modern.connect(new StreamableHTTPClientTransport(at, options));
    const legacy = new LegacyClient({ name: "installed", version: "1" });
    await legacy.connect(new LegacyTransport(at, options));
    for (const client of [modern, legacy]) {
      const called = await client.callTool({ name: "identity", arguments: {} });
      expect(called.content).toMatchObject([{ text: expect.stringMatching(/^server-/) }]);
      await client.close();
    }
    gateway.stop();
  }
  expect(await serverPods()).toHaveLength(1);
}, 600_000);

test("KEY-6 OPS-2 an agent of the cluster calls with its service account's token, and an account without trust is refused", async () => {
  const discovery = await kubectl("get", "--raw=/.well-known/openid-configuration");
  const { issuer }: { issuer: string } = JSON.parse(discovery);
  const subject = `system:serviceaccount:${namespace}:agent`;
  const trusted = ["--name", "Agents", "--issuer", issuer, "--subject", subject, "--organization", "company"];
  await terminal("workloads", "add", ...trusted);
  const resource = `${serversUrl}/inside/mcp`;
  const tokenOf = async (account: string) => {
    await kubectl("-n", namespace, "create", "serviceaccount", account);
    return (await kubectl("-n", namespace, "create", "token", account, `--audience=${resource}`)).trim();
  };
  const statusWith = async (token: string) => {
    const headers = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      authorization: `Bearer ${token}`,
    };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
    return (await fetch(resource, { method: "POST", headers, body })).status;
  };
  const agent = await tokenOf("agent");
  await expect.poll(() => statusWith(agent)).toBe(200);
  expect(await statusWith(await tokenOf("stranger"))).toBe(401);
}, 120_000);

test("RUN-5 GW-7 lines of the server and calls of both gateways are in the logs", async () => {
  const rows = async (sql: string) => (await database.pool.query(sql)).rows;
  await expect
    .poll(() => rows("SELECT line FROM server_log WHERE line LIKE 'ready on%' LIMIT 1"))
    .toEqual([{ line: "ready on a cluster" }]);
  await expect
    .poll(() =>
      rows("SELECT count(*)::int AS calls FROM request_log WHERE method = 'tools/call' AND http_status = 200"),
    )
    .toEqual([{ calls: 4 }]);
});

test("RUN-7 RUN-1 a server reaches the internet and the bucket, and nothing of the cluster or private networks", async () => {
  const [publicly, privately, metadata] = ["198.51.100.7", "192.168.77.1", "169.254.169.254"];
  const elsewhere = keep(await listenElsewhere([publicly, privately, metadata]));
  const ipOf = async (role: Role) => (await podsOf(role))[0]?.ip ?? "";
  const clusterIp = (role: Role) =>
    kubectl("-n", namespace, "get", "service", `towpath-${role}`, "-o=jsonpath={.spec.clusterIP}");
  const server = await kubectl("-n", tenants, "get", ...ownPods, "-o=jsonpath={.items[0].status.podIP}");
  const forbidden = [
    "10.96.0.1:443",
    `${nodeAddress}:6443`,
    `${nodeAddress}:10250`,
    `${await clusterIp("web")}:3000`,
    `${await clusterIp("gateway")}:8080`,
    `${await clusterIp("runner")}:9000`,
    ...(await Promise.all((["web", "gateway", "worker"] as const).map(async (role) => `${await ipOf(role)}:9090`))),
    `${await ipOf("runner")}:9000`,
    `${server}:8000`,
    `${privately}:${elsewhere.port}`,
    `${metadata}:${elsewhere.port}`,
  ];
  const allowed = [`${publicly}:${elsewhere.port}`, new URL(bucketValues(bucket).endpoint).host];
  const from = (labels: Readonly<Record<string, string>>, at = tenants) => ({
    namespace: at,
    labels,
    image: serversImage,
  });
  const dial = (labels: Readonly<Record<string, string>>) =>
    reachedFrom(cluster, from(labels), [...forbidden, ...allowed]);
  for (const role of ["server", "build"])
    expect([role, await dial({ "towpath.dev/role": role, "towpath.dev/network": "internet" })]).toEqual([
      role,
      allowed,
    ]);
  const cutOff = { "towpath.dev/role": "server", "towpath.dev/network": "none" };
  expect(await dial(cutOff)).toEqual(allowed.slice(1));
  // All of them listen: who is not a tenant reaches what no policy closes.
  const others = forbidden.filter((target) => !target.endsWith(":9000") && !target.endsWith(":8000"));
  expect(await reachedFrom(cluster, from({ app: "other" }, namespace), [...forbidden, ...allowed])).toEqual([
    ...others,
    ...allowed,
  ]);
}, 180_000);

test("RUN-7 OPS-2 the Instance page and doctor say that network policies are enforced", async () => {
  const sql = "SELECT report FROM host_isolation";
  const report = async () => (await database.pool.query(sql)).rows[0]?.report;
  await expect.poll(report, { timeout: 60_000 }).toMatchObject({ problems: [], trusted: true });
  expect((await report()).checks).toContainEqual(expect.objectContaining({ name: "network policies", ok: true }));
  const doctor = await kubectl("-n", namespace, "exec", "deployment/towpath-web", "--", "towpath", "doctor").catch(
    ({ stdout }: { readonly stdout: string }) => stdout,
  );
  expect(doctor).toMatch(/ok +network policies +enforced/);
}, 180_000);

test("OPS-3 OPS-11 an upgrade under 60 calls a second fails no call and starts no server again", async () => {
  await deploy("steady", "--public");
  const steady = `${serversUrl}/steady/mcp`;
  const identity = await callTool(steady, "identity");
  const former = await Promise.all(roles.map(namesOf));
  const calls = callSteadily({ url: steady, tool: "identity" });
  values = { ...values, image: { repository: towpathImage, tag: "2", pullPolicy: "Never" } };
  await upgrade();
  const { calls: made, failed } = await calls.stop();
  process.stdout.write(`${made} calls during the upgrade\n`);
  expect(Object.groupBy(failed, ({ reason }) => reason)).toEqual({});
  expect(made).toBeGreaterThan(600);
  for (const [index, role] of roles.entries())
    for (const name of await namesOf(role)) expect(former[index]).not.toContain(name);
  expect(await callTool(steady, "identity")).toBe(identity);
}, 900_000);

test("OPS-2 a changed secret starts the pods that use it again, and no others", async () => {
  const names = () => Promise.all(roles.map(async (role) => [role, await namesOf(role)] as const));
  const before = await names();
  values = { ...values, mail: { ...mail, url: "smtp://other.example.com" } };
  await upgrade();
  const after = Object.fromEntries(await names());
  for (const [role, former] of before) {
    const usesMail = role === "web" || role === "worker";
    expect([role, former.filter((name) => after[role]?.includes(name)).length]).toEqual([role, usesMail ? 0 : 2]);
  }
}, 900_000);

test("OPS-2 an uninstall leaves the secret of the instance, the tenants' namespace, the database and the bucket", async () => {
  await helm("uninstall", "towpath", "--wait");
  expect(await kubectl("-n", namespace, "get", "secrets", "-o=name")).toContain("secret/towpath-instance");
  expect(await kubectl("-n", namespace, "get", "deployments,services,jobs,configmaps", "-o=name")).not.toContain(
    "towpath",
  );
  expect(await kubectl("get", "namespace", tenants, "-o=jsonpath={.status.phase}")).toBe("Active");
  const { rows } = await database.pool.query("SELECT name FROM project ORDER BY name");
  expect(rows.map(({ name }) => name)).toEqual(["inside", "steady"]);
}, 180_000);
