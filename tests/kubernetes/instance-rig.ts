import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { openDatabase } from "@towpath/db";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "@towpath/db/embedded";
import { modernCall } from "../instance/modern-call.ts";
import { repositoryRoot } from "../instance/towpath-process.ts";
import { type S3Service, startVersitygw } from "../s3/versitygw.ts";
import { type Cluster, nodeAddress } from "./cluster.ts";
import { type Name, openPlatform, type Platform } from "./platform.ts";
import { importServersImage } from "./servers-image.ts";

const run = promisify(execFile);

export type InstanceRig = {
  readonly platform: Platform;
  readonly bucket: S3Service;
  readonly namespace: string;
  readonly directory: string;
  /** Directory of the bucket's objects. */
  readonly objects: string;
  rows<Row extends object>(sql: string): Promise<Row[]>;
  stopPostgres(): Promise<void>;
  startPostgres(): Promise<void>;
  /** Deploys a server that everybody may call. Resolves to what the terminal printed. */
  deploy(name: string, source: string, ...options: readonly string[]): Promise<string>;
  /** Stops what is live of a server. */
  stopServer(name: string): Promise<void>;
  /** Names of pods with a role, without those that try the network. */
  podsOf(role: "server" | "build"): Promise<string[]>;
  close(): Promise<void>;
};

/**
 * An instance on the cluster, with some of its processes: they are the node's, its servers and builds are pods.
 *
 * @param reach by which URL the processes reach the database with this one
 */
export async function openInstanceRig(
  cluster: Cluster,
  names: readonly Name[],
  settings: Readonly<Record<string, string>> = {},
  reach: (url: string) => Promise<string> = async (url) => url,
): Promise<InstanceRig> {
  const directory = await mkdtemp(join(tmpdir(), "tp-two-"));
  const namespace = `two-${process.pid}-${Date.now() % 10_000}`;
  const options = { dataDirectory: join(directory, "pg"), socketDirectory: join(directory, "s"), durable: false };
  let postgres: EmbeddedPostgres | null = await startEmbeddedPostgres(options);
  const { url } = postgres;
  const database = openDatabase(url, { maxConnections: 2 });
  database.pool.on("error", () => {});
  const bucket = await startVersitygw(join(directory, "buckets"), nodeAddress);
  await bucket.newBucket("towpath");
  await cluster.createNamespace(namespace);
  await cluster.kubectl("label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted");
  const platform = await openPlatform(directory, {
    ...bucket.settings,
    DATABASE_URL: await reach(url),
    TOWPATH_ARTIFACTS: "s3://towpath/of",
    TOWPATH_GATEWAY_SPOOL_TO: "s3://towpath/of/request-logs",
    TOWPATH_REPOSITORIES: "bundles",
    TOWPATH_DRIVER: "kubernetes",
    TOWPATH_KUBERNETES_CONFIG: cluster.kubeconfig,
    TOWPATH_KUBERNETES_NAMESPACE: namespace,
    TOWPATH_KUBERNETES_IMAGE: await importServersImage(cluster, directory),
    TOWPATH_KUBERNETES_IMAGE_PULL_POLICY: "Never",
    ...settings,
  });
  await run(join(repositoryRoot, "towpath"), ["migrate"], { env: { ...process.env, DATABASE_URL: url } });
  // Web is built at first.
  await platform.start("web-1");
  await Promise.all(names.filter((name) => name !== "web-1").map((name) => platform.start(name)));
  return {
    platform,
    bucket,
    namespace,
    directory,
    objects: join(bucket.directory, "towpath/of"),
    rows: async (sql) => (await database.pool.query(sql)).rows,
    async stopPostgres() {
      await postgres?.stop();
      postgres = null;
    },
    async startPostgres() {
      postgres = await startEmbeddedPostgres(options);
    },
    async deploy(name, source, ...more) {
      const code = join(directory, `code-${name}`);
      await mkdir(code, { recursive: true });
      await writeFile(join(code, "server.py"), source);
      await writeFile(join(code, "requirements.txt"), "mcp>=2,<3\nuvicorn\n");
      return await platform.terminal("deploy", code, "--name", name, "--public", ...more);
    },
    async stopServer(name) {
      const route = "SELECT deployment_id AS id FROM route JOIN project ON project.id = route.project_id";
      const { rows } = await database.pool.query(`${route} WHERE name = $1`, [name]);
      await platform.runner.stop(rows[0]?.id ?? "");
    },
    async podsOf(role) {
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
    },
    async close() {
      await platform.stop();
      await database.close();
      await bucket.stop();
      await postgres?.stop();
      await cluster.kubectl("delete", "namespace", namespace, "--wait=false");
      await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
}

/** The answer to one call of a tool, with an API key or without. @throws Error with any other answer */
export async function callTool(
  url: string,
  tool: string,
  input: Record<string, unknown>,
  { key, withinMs = 65_000 }: { readonly key?: string | undefined; readonly withinMs?: number } = {},
) {
  const { headers, ...request } = modernCall(tool, input, "two");
  const all = { ...headers, ...(key !== undefined && { authorization: `Bearer ${key}` }) };
  const answer = await fetch(url, { ...request, headers: all, signal: AbortSignal.timeout(withinMs) });
  const text = await answer.text();
  if (answer.status !== 200 || /"isError":\s*true|"error":\s*\{/.test(text))
    throw new Error(`${answer.status} ${text}`);
  return text;
}
