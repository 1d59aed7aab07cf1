import { randomUUID } from "node:crypto";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { createSecretBox, openUpstreamCredential } from "@towpath/secrets";
import { type DeployedServer, type Rig, secret, until } from "./rig.ts";

const box = createSecretBox({ current: secret, previous: [] });
const moved = 418;

export type Elsewhere = { readonly url: string; readonly port: number; close: () => Promise<void> };

/** A server on a port of this machine, as run by a third party. */
export async function startElsewhere(handle: RequestListener): Promise<Elsewhere> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/base/mcp?v=2`,
    port,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

type Options = Parameters<Rig["deploy"]>[1] & {
  credential?: { header: string; value: string };
  /** The URL for which the credential is sealed; default: the server's. */
  sealedFor?: string;
};

/** Adds an external server, and waits until the gateway knows it. */
export async function addExternal(rig: Rig, url: string, options: Options = {}): Promise<DeployedServer> {
  const { credential, sealedFor = url, authMode = "towpath-public", ...rest } = options;
  const server = await rig.deploy(
    (request, response) => void request.resume().on("end", () => response.writeHead(moved).end()),
    rest,
  );
  const { pool } = rig.database;
  const { organizationId, projectId } = server;
  const externalServerId = randomUUID();
  const sealed =
    credential && (await seal(rig, { organizationId, projectId, externalServerId, url: sealedFor }, credential));
  await pool.query(
    `INSERT INTO external_server (id, project_id, url, credential_header, credential_ciphertext, credential_version)
     VALUES ($1, $2, $3, $4, $5, 1)`,
    [externalServerId, projectId, url, credential?.header ?? null, sealed ?? null],
  );
  await pool.query(
    `UPDATE route SET target_kind = 'external', branch_id = NULL, deployment_id = NULL, external_server_id = $2
     WHERE label = $1`,
    [server.label, externalServerId],
  );
  const status = async () => {
    const answer = await fetch(new URL(`/${server.label}/other`, server.url));
    await answer.body?.cancel();
    return answer.status;
  };
  // While anyone may call: nobody sees where a private server's label leads.
  await until(async () => (await status()) !== moved);
  if (authMode === "towpath-public") return server;
  await pool.query("UPDATE project SET auth_mode = $2 WHERE id = $1", [projectId, authMode]);
  await until(async () => (await status()) === 401);
  return server;
}

type Server = { organizationId: string; projectId: string; externalServerId: string; url: string };

async function seal(rig: Rig, server: Server, { header, value }: { header: string; value: string }): Promise<string> {
  const { organizationId, projectId, externalServerId, url } = server;
  const dataKey = box.newDataKey({ id: randomUUID(), organizationId, projectId });
  await rig.database.pool.query(
    "INSERT INTO data_key (id, organization_id, project_id, wraps) VALUES ($1, $2, $3, $4)",
    [dataKey.id, organizationId, projectId, dataKey.wraps],
  );
  const environments = [new URL(url).origin];
  const binding = { organizationId, projectId, secretId: externalServerId, keyName: header, version: 1, environments };
  const ciphertext = box.encrypt(value, dataKey, binding);
  // As the gateway will.
  openUpstreamCredential(box, dataKey, { ...server, header, version: 1, ciphertext });
  return ciphertext;
}
