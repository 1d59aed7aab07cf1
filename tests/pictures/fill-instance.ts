import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { openDatabase } from "@towpath/db";
import { foldRequestLogs, writeRequestLogs } from "@towpath/logs";
import { requestLogRow } from "@towpath/logs/testing";
import { createOrganization, signUp, type Visitor } from "../e2e/browser.ts";
import { operatorPost, pushBranch } from "../instance/operator.ts";
import { databaseUrlOf } from "../instance/processes.ts";
import { type TowpathInstance, towpath } from "../instance/towpath-process.ts";

export const [weather, portal] = ["weather", "team-portal"];
const tickets = "tickets";

/**
 * Makes an organization with two servers, a preview, a portal, a day of calls and a signed-in person. Returns its slug.
 */
export async function fillInstance(instance: TowpathInstance, { page }: Visitor): Promise<string> {
  await signUp(page, instance.url);
  const slug = await createOrganization(page, "Northwind");
  for (const name of [weather, tickets]) await deploy(instance, name);
  await pushBranch(instance, { name: weather, branch: "hourly-forecast", message: "Forecast by the hour" });
  await operatorPost(instance, `organizations/${slug}/portals`, {
    name: portal,
    servers: [{ server: weather, tools: ["forecast", "warnings"] }, { server: tickets }],
  });
  await writeDay(instance);
  await call(instance);
  return slug;
}

async function deploy(instance: TowpathInstance, name: string): Promise<void> {
  const directory = join(import.meta.dirname, "servers", name);
  const args = ["deploy", directory, "--name", name, "--public", "--data-dir", instance.dataDirectory];
  const { status, stdout, stderr } = await towpath(...args);
  if (status !== 0) throw new Error(`${name} was not deployed:\n${stdout}${stderr}`);
}

/** A day of calls before now, in waves, with a few that failed. */
async function writeDay(instance: TowpathInstance): Promise<void> {
  const { pool } = openDatabase(databaseUrlOf(instance.dataDirectory), { maxConnections: 1 });
  const live = await pool.query(
    `SELECT project.id AS "projectId", project.organization_id AS "organizationId", deployment_id AS "deploymentId"
       FROM route JOIN project ON project.id = route.project_id JOIN deployment ON deployment.id = deployment_id
      WHERE deployment.environment = 'production' ORDER BY project.name = $1 DESC`,
    [weather],
  );
  for (const [at, ids] of live.rows.entries()) {
    const rows = Array.from({ length: at === 0 ? 900 : 300 }, (_, n) => requestLogRow({ ...ids, ...callOf(n) }));
    await writeRequestLogs(pool, rows);
  }
  while ((await foldRequestLogs(pool)) > 0);
  await pool.end();
}

const clients = [
  ["claude-ai", "2.1"],
  ["cursor-vscode", "1.8.2"],
  ["Visual Studio Code", "1.104"],
] as const;
const tools = ["forecast", "forecast", "forecast", "warnings", "stations"];

/** The numbers look random, and are the same in each run. */
function callOf(n: number) {
  const mixed = (n * 2654435761) % 4294967296;
  const [clientName, clientVersion] = clients[mixed % 3] ?? clients[0];
  const failed = mixed % 41 === 0;
  const minutes = (mixed % 1380) + 20 + 40 * Math.sin(mixed % 7);
  return {
    time: Date.now() - minutes * 60_000,
    target: tools[mixed % tools.length] ?? "forecast",
    durationMs: 6 + (mixed % 90) + (mixed % 23 === 0 ? 180 : 0),
    session: `s${mixed % 60}`,
    clientName,
    clientVersion,
    isError: failed,
    ...(failed && { outcome: "tool_error" as const, errorMessage: "There is no station near Atlantis." }),
  };
}

/** Real calls, so that the log's newest rows can be opened with all that belongs to them. */
async function call(instance: TowpathInstance): Promise<void> {
  for (const [name, version] of clients) {
    const client = new Client({ name, version }, { versionNegotiation: { mode: "auto" } });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${instance.serversUrl}/${weather}/mcp`)));
    for (const city of ["Bruges", "Leeds", "Hamburg"]) await client.callTool({ name: "forecast", arguments: { city } });
    await client.callTool({ name: "warnings", arguments: { region: "Frisia" } });
    await client.callTool({ name: "forecast", arguments: { city: "Atlantis" } });
    await client.close();
  }
}
