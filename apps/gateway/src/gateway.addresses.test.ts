import { randomUUID } from "node:crypto";
import type { RequestListener } from "node:http";
import { Agent, fetch as undiciFetch } from "undici";
import { expect, onTestFinished, test } from "vitest";
import { connectLegacy, connectModern } from "./testing/clients.ts";
import { createMcpListener } from "./testing/mcp-server.ts";
import { createRig, type DeployedServer, insertDeployment, type Rig, until } from "./testing/rig.ts";
import { startUnixServer } from "./testing/unix-server.ts";

/** Stands in for a wildcard DNS record: every name is this machine. */
const dispatcher = new Agent({
  connect: {
    lookup: (_name, _options, done) => done(null, [{ address: "127.0.0.1", family: 4 }]),
  },
});
const fetchAnywhere = (url: string | URL, init?: RequestInit) =>
  undiciFetch(url, { ...init, dispatcher } as never) as unknown as Promise<Response>;

/** A real MCP server that counts the tool calls that reach it. */
function counting() {
  const serve = createMcpListener();
  const seen = { calls: 0, hosts: new Set<string>() };
  const listener: RequestListener = (request, response) => {
    seen.calls++;
    seen.hosts.add(String(request.headers["x-forwarded-host"]));
    serve(request, response);
  };
  return { seen, listener };
}

/** Adds a branch with a deployment and a route of its own to a server's project. */
async function deployPreview(rig: Rig, production: DeployedServer, branch: string) {
  const label = `${production.label}-${branch}`;
  const preview = { ...production, label, branchId: randomUUID(), deploymentId: randomUUID() };
  const { seen, listener } = counting();
  const upstream = await startUnixServer(listener);
  onTestFinished(() => upstream.close());
  const { pool } = rig.database;
  await pool.query("INSERT INTO branch (id, project_id, name) VALUES ($1, $2, $3)", [
    preview.branchId,
    preview.projectId,
    branch,
  ]);
  await insertDeployment(pool, preview);
  rig.runner.servers.set(preview.deploymentId, { instanceId: randomUUID(), endpoint: upstream.endpoint });
  await pool.query(
    "INSERT INTO route (label, project_id, branch_id, deployment_id, sequence) VALUES ($1, $2, $3, $4, 1)",
    [label, preview.projectId, preview.branchId, preview.deploymentId],
  );
  return { ...preview, seen };
}

const forms = [
  {
    form: "host names",
    setting: "http://{name}.servers.test:8080",
    urlOf: (label: string, port: number) => `http://${label}.servers.test:${port}/mcp`,
    hostOf: (label: string) => `${label}.servers.test:8080`,
    elsewhere: (label: string, port: number) => `http://servers.test:${port}/${label}/mcp`,
  },
  {
    form: "a path on a single host",
    setting: "http://mcp.example.test:8080/{name}",
    urlOf: (label: string, port: number) => `http://mcp.example.test:${port}/${label}/mcp`,
    hostOf: () => "mcp.example.test:8080",
    elsewhere: (label: string, port: number) => `http://${label}.mcp.example.test:${port}/mcp`,
  },
];

for (const { form, setting, urlOf, hostOf, elsewhere } of forms) {
  test(`GW-1 by ${form}, clients of both eras reach production and its preview, each at its own address`, async () => {
    const rig = await createRig({ TOWPATH_SERVER_URL: setting });
    onTestFinished(() => rig.close());
    const { seen: inProduction, listener } = counting();
    const production = await rig.deploy(listener, { label: "brave-otter" });
    const preview = await deployPreview(rig, production, "next");
    const { port } = rig.gateway;
    const targets = [{ ...production, seen: inProduction }, preview];
    for (const { label, deploymentId, seen } of targets) {
      const url = new URL(urlOf(label, port));
      const others = targets.filter((target) => target.label !== label).map((target) => target.seen);
      const callsOfOthers = others.map(({ calls }) => calls);
      await until(async () => (await fetchAnywhere(url)).status !== 401);
      const before = seen.calls;

      const modern = await connectModern(url, {}, { fetch: fetchAnywhere });
      expect((await modern.callTool({ name: "echo", arguments: { text: label } })).content).toEqual([
        { type: "text", text: label },
      ]);
      await modern.close();
      const { client: legacy } = await connectLegacy(url, {}, { fetch: fetchAnywhere });
      expect((await legacy.callTool({ name: "echo", arguments: { text: label } })).content).toEqual([
        { type: "text", text: label },
      ]);
      await legacy.close();

      expect(seen.calls).toBeGreaterThan(before + 4);
      expect(others.map(({ calls }) => calls)).toEqual(callsOfOthers);
      // A server that builds links to itself gets the public address.
      expect(seen.hosts).toEqual(new Set([hostOf(label)]));
      await until(async () => {
        const rows = (await rig.rows(production.projectId, 1)).filter(({ method }) => method === "tools/call");
        return rows.filter((row) => row.deploymentId === deploymentId).length === 2;
      });
    }
    // The other form is no address here.
    const stray = await fetchAnywhere(elsewhere(production.label, port), { method: "POST", body: "{}" });
    expect(stray.status).toBe(404);
    expect(await stray.json()).toMatchObject({ error: { data: { towpath: "unknown_host" } } });
  });
}
