import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { createSigningKeys } from "@towpath/auth/credentials";
import { migrateDatabase, openDatabase } from "@towpath/db";
import { startEmbeddedPostgres } from "@towpath/db/embedded";
import { createRunnerStandIn } from "@towpath/runner-api/testing";
import { modernCall } from "../instance/modern-call.ts";
import { freePorts } from "../instance/towpath-process.ts";

export type Bench = {
  directory: string;
  label: string;
  /** The same server behind sign-in, and a token that is let in. */
  signedIn: { label: string; token: string };
  ports: { server: number; nginx: number; tuned: number; gateway: number };
  wrkScript: string;
  /** The processes that carry the requests. */
  processes: { nginx: number; gateway: number };
  rowsWritten: () => Promise<number>;
  stop: () => Promise<void>;
};

const proxyCore = "0";
const restCores = availableParallelism() > 1 ? `1-${availableParallelism() - 1}` : "0";

/** As root nginx would give its workers another user, who may not enter the benchmark's directory. */
const asMyself = process.getuid?.() === 0 ? "user root; " : "";
const label = "bench-server";
const signedInLabel = "bench-signed-in";
const secret = "the bench's secret has 32 letters";
const answer =
  '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"hello from the bench"}],"isError":false}}';
const call = modernCall("echo", { text: "hello from the bench" }, "bench");
const wrkScript = `
wrk.method = "POST"
wrk.body = [==[${call.body}]==]
${Object.entries(call.headers)
  .map(([name, value]) => `wrk.headers["${name}"] = "${value}"`)
  .join("\n")}
function done(summary, latency)
  local e = summary.errors
  io.write(string.format("RESULT %d %d %f %d\\n", summary.requests, summary.duration, latency:percentile(50),
    e.connect + e.read + e.write + e.status + e.timeout))
end
`;

/** Starts PostgreSQL, a server, nginx in front of it, a stand-in for the runner and the real gateway process. */
export async function startBench(): Promise<Bench> {
  // One core for the proxy that is measured, the other for everything else, as all children inherit this.
  await promisify(execFile)("taskset", ["-a", "-cp", restCores, String(process.pid)]);
  const directory = await mkdtemp(join(tmpdir(), "tp-bench-"));
  const postgres = await startEmbeddedPostgres({
    dataDirectory: join(directory, "data"),
    socketDirectory: join(directory, "s"),
    durable: false,
  });
  await migrateDatabase(postgres.url);
  const database = openDatabase(postgres.url);
  const deploymentId = await insertRoute(database.pool, label, "towpath-public");
  const signedInDeployment = await insertRoute(database.pool, signedInLabel, "towpath-cloud");
  const socketPath = join(directory, "mcp.sock");
  const runner = createRunnerStandIn({ kind: "unix", path: join(directory, "runner.sock") });
  for (const id of [deploymentId, signedInDeployment]) {
    runner.servers.set(id, { instanceId: `bench-${id}`, endpoint: { kind: "unix", path: socketPath } });
  }
  await runner.start();
  const [server = 0, nginxPort = 0, tuned = 0, gatewayPort = 0] = await freePorts(4);
  const ports = { server, nginx: nginxPort, tuned, gateway: gatewayPort };
  const nginx = await startNginx(directory, socketPath, ports);
  const gateway = await startGatewayProcess(directory, postgres.url, ports.gateway);
  const token = await accessToken(database.pool, `http://localhost:${ports.gateway}/${signedInLabel}/mcp`);
  return {
    directory,
    label,
    signedIn: { label: signedInLabel, token },
    ports,
    wrkScript,
    processes: { nginx: await onlyChildOf(nginx.pid ?? 0), gateway: gateway.pid ?? 0 },
    async rowsWritten() {
      await new Promise((resolve) => setTimeout(resolve, 1500));
      return Number((await database.pool.query("SELECT count(*) AS n FROM request_log")).rows[0].n);
    },
    async stop() {
      for (const child of [gateway, nginx]) {
        child.kill("SIGTERM");
        if (child.exitCode === null) await once(child, "exit");
      }
      await runner.stop();
      await database.close();
      await postgres.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

type Pool = ReturnType<typeof openDatabase>["pool"];

async function insertRoute(pool: Pool, label: string, authMode: string): Promise<string> {
  const [organization, project, branch, build, deployment] = [
    randomUUID(),
    randomUUID(),
    randomUUID(),
    randomUUID(),
    randomUUID(),
  ];
  await pool.query("INSERT INTO organization (id, name, slug) VALUES ($1, 'Bench', $2)", [organization, label]);
  await pool.query(
    "INSERT INTO project (id, organization_id, name, entrypoint, auth_mode) VALUES ($1, $2, $3, 's.py', $4)",
    [project, organization, label, authMode],
  );
  await pool.query("INSERT INTO branch (id, project_id, name) VALUES ($1, $2, 'main')", [branch, project]);
  await pool.query(
    `INSERT INTO build (id, project_id, branch_id, commit_sha, trigger, sequence, entrypoint)
     VALUES ($1, $2, $3, 'abc', 'push', 1, 's.py')`,
    [build, project, branch],
  );
  await pool.query(
    `INSERT INTO deployment (id, project_id, branch_id, build_id, environment, slug)
     VALUES ($1, $2, $3, $4, 'production', $5)`,
    [deployment, project, branch, build, label],
  );
  await pool.query(
    "INSERT INTO route (label, project_id, branch_id, deployment_id, sequence) VALUES ($1, $2, $3, $4, 1)",
    [label, project, branch, deployment],
  );
  return deployment;
}

/** A token as the authorization server issues it, for a member of the server's organization. */
async function accessToken(pool: Pool, resource: string): Promise<string> {
  const [user, member, grant] = [randomUUID(), randomUUID(), randomUUID()];
  await pool.query(`INSERT INTO "user" (id, name, email) VALUES ($1, 'Bench', 'bench@example.com')`, [user]);
  const organization = "(SELECT id FROM organization WHERE slug = $3)";
  await pool.query(
    `INSERT INTO member (id, user_id, organization_id, role) VALUES ($1, $2, ${organization}, 'member')`,
    [member, user, signedInLabel],
  );
  await pool.query(
    `INSERT INTO oauth_client (id, kind, name, redirect_uris, token_endpoint_auth_method, grant_types)
     VALUES ('bench', 'registered', 'Bench', '{}', 'none', '{}')`,
  );
  await pool.query(
    `INSERT INTO oauth_grant (id, user_id, client_id, project_id, scopes)
     VALUES ($1, $2, 'bench', (SELECT id FROM project WHERE name = $3), '{mcp}')`,
    [grant, user, signedInLabel],
  );
  const keys = createSigningKeys({ pool, secret, issuer: "http://localhost:3000" });
  const claims = { sub: user, aud: resource, client_id: "bench", scope: "mcp", jti: grant, towpath_grant: grant };
  return (await keys.sign({ typ: "at+jwt", claims, ttlSeconds: 3600 })).token;
}

async function startNginx(
  directory: string,
  socketPath: string,
  ports: { server: number; nginx: number; tuned: number },
): Promise<ChildProcess> {
  const conf = join(directory, "nginx.conf");
  await writeFile(
    conf,
    `${asMyself}worker_processes 1; daemon off; pid ${directory}/nginx.pid; error_log ${directory}/nginx.log error;
events { worker_connections 4096; }
http {
  access_log off; keepalive_requests 100000000; client_body_temp_path ${directory}/body; proxy_temp_path ${directory}/proxy;
  fastcgi_temp_path ${directory}/f; uwsgi_temp_path ${directory}/u; scgi_temp_path ${directory}/c;
  upstream mcp { server unix:${socketPath}; keepalive 256; keepalive_requests 100000000; }
  server { listen 127.0.0.1:${ports.nginx};
    location / { proxy_pass http://unix:${socketPath}; } }
  server { listen 127.0.0.1:${ports.tuned};
    location / { proxy_pass http://mcp; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $host; } }
}`,
  );
  const serverConf = join(directory, "server.conf");
  await writeFile(
    serverConf,
    `${asMyself}worker_processes 1; daemon off; pid ${directory}/server.pid; error_log ${directory}/server.log error;
events { worker_connections 4096; }
http {
  access_log off; keepalive_requests 100000000; client_body_temp_path ${directory}/b2; proxy_temp_path ${directory}/p2;
  fastcgi_temp_path ${directory}/f2; uwsgi_temp_path ${directory}/u2; scgi_temp_path ${directory}/c2;
  server { listen unix:${socketPath}; listen 127.0.0.1:${ports.server};
    location / { default_type application/json; return 200 '${answer}'; } }
}`,
  );
  const server = spawn("nginx", ["-c", serverConf, "-p", directory], { stdio: "inherit" });
  const proxy = spawn("taskset", ["-c", proxyCore, "nginx", "-c", conf, "-p", directory], { stdio: "inherit" });
  proxy.once("exit", () => server.kill("SIGTERM"));
  await reachable(`http://127.0.0.1:${ports.nginx}/mcp`);
  return proxy;
}

async function startGatewayProcess(directory: string, databaseUrl: string, port: number): Promise<ChildProcess> {
  const main = new URL("../../apps/gateway/src/main.ts", import.meta.url).pathname;
  const flags = process.env.BENCH_NODE_FLAGS?.split(" ").filter(Boolean) ?? [];
  const child = spawn("taskset", ["-c", proxyCore, process.execPath, ...flags, main], {
    env: {
      DATABASE_URL: databaseUrl,
      // What is measured is the CPU of one process, beside one of nginx.
      TOWPATH_GATEWAY_WORKERS: "1",
      TOWPATH_DATA_DIR: directory,
      TOWPATH_RUN_DIR: directory,
      TOWPATH_SECRET: secret,
      TOWPATH_LOG_LEVEL: "info",
      TOWPATH_SERVER_URL: `http://localhost:${port}/{name}`,
      TOWPATH_GATEWAY_PORT: String(port),
      // Kept, as in production, but never reached.
      ...Object.fromEntries(
        ["CALLER", "SERVER", "ORGANIZATION"].flatMap((name) => [
          [`TOWPATH_LIMIT_${name}_PER_MINUTE`, "10000000"],
          [`TOWPATH_LIMIT_${name}_BURST`, "10000000"],
        ]),
      ),
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const line of createInterface(child.stdout)) if (line.includes('"ready"')) break;
  child.stdout.resume();
  return child;
}

/** nginx's worker: the master only waits. */
async function onlyChildOf(pid: number): Promise<number> {
  return Number((await readFile(`/proc/${pid}/task/${pid}/children`, "utf8")).trim().split(" ")[0]);
}

async function reachable(url: string): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const answered = await fetch(url).then(
      (response) => response.ok,
      () => false,
    );
    if (answered) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${url} does not answer`);
}
