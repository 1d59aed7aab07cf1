import { randomUUID } from "node:crypto";
import { readManifest } from "@towpath/mcp/client";
import { type DeployedServer, type Rig, until } from "./rig.ts";

type Member = { server: DeployedServer; prefix: string; tools?: string[]; resources?: string[]; prompts?: string[] };

/** Reads a server's lists through the gateway, as its build would have, and stores them with the build. */
export async function storeManifest(
  rig: Rig,
  server: DeployedServer,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  const { manifest } = await readManifest({ url: server.url.href, headers }, { timeoutMs: 10_000 });
  await rig.database.pool.query(
    `UPDATE build SET manifest = $2 FROM deployment WHERE deployment.build_id = build.id AND deployment.project_id = $1`,
    [server.projectId, JSON.stringify(manifest)],
  );
  await rig.database.pool.query("UPDATE external_server SET manifest = $2 WHERE project_id = $1", [
    server.projectId,
    JSON.stringify(manifest),
  ]);
}

/** Puts all servers into one organization, and adds a portal of them; waits until the gateway serves it. */
export async function addPortal(rig: Rig, members: readonly Member[], authMode = "towpath-public") {
  const { pool } = rig.database;
  const [first] = members;
  if (!first) throw new Error("a portal needs a server");
  const { organizationId } = first.server;
  for (const { server } of members)
    await pool.query("UPDATE project SET organization_id = $2 WHERE id = $1", [server.projectId, organizationId]);
  const [projectId, portalId] = [randomUUID(), randomUUID()];
  const label = `portal-${projectId.slice(0, 8)}`;
  await pool.query(
    `INSERT INTO project (id, organization_id, name, kind, entrypoint, auth_mode) VALUES ($1, $2, $3, 'portal', '', $4)`,
    [projectId, organizationId, label, authMode],
  );
  await pool.query("INSERT INTO portal (id, project_id, instructions) VALUES ($1, $2, 'Use them well.')", [
    portalId,
    projectId,
  ]);
  for (const [position, { server, prefix, tools = null, resources = null, prompts = null }] of members.entries()) {
    await pool.query(
      `INSERT INTO portal_server (portal_id, project_id, position, prefix, tools, resources, prompts)
       VALUES ($1, $2, $3, $4, $5, $6, $7)`,
      [portalId, server.projectId, position, prefix, tools, resources, prompts],
    );
  }
  await pool.query("INSERT INTO route (label, project_id, target_kind, portal_id) VALUES ($1, $2, 'portal', $3)", [
    label,
    projectId,
    portalId,
  ]);
  const url = new URL(`http://127.0.0.1:${rig.gateway.port}/${label}/mcp`);
  await until(async () => {
    const answer = await fetch(url, { method: "POST", body: "[]" });
    await answer.body?.cancel();
    return answer.status === (authMode === "towpath-cloud" ? 401 : 400);
  });
  return { organizationId, projectId, portalId, label, url };
}
