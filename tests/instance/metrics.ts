import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { RoleName } from "./processes.ts";
import type { TowpathInstance } from "./towpath-process.ts";

/** A process's answer on its socket in the run directory. */
export async function askSocket(
  dataDirectory: string,
  name: string,
  path: string,
): Promise<{ readonly status: number | undefined; readonly body: string }> {
  const socketPath = join(dataDirectory, "run", name);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request({ socketPath, path }, resolve).on("error", reject).end();
  });
  return { status: response.statusCode, body: await text(response) };
}

/** The metrics of a role, where it serves them unless a port is set. */
export async function metricsOf(
  { dataDirectory, serversUrl }: Pick<TowpathInstance, "dataDirectory" | "serversUrl">,
  role: RoleName,
): Promise<string> {
  if (role === "gateway") return (await fetch(`${serversUrl}/-/metrics`)).text();
  const { status, body } = await askSocket(dataDirectory, `${role}-metrics.sock`, "/-/metrics");
  if (status !== 200) throw new Error(`The metrics of ${role}: ${status} ${body}`);
  return body;
}
