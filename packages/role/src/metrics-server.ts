import { rm } from "node:fs/promises";
import { createServer } from "node:http";

/** A port, or the path of a socket, which is taken from a process that was killed. */
export type MetricsAddress = { readonly host: string; readonly port: number } | { readonly path: string };

/**
 * Serves `/-/metrics` to whoever reaches the address: `text` in Prometheus' text format (0.0.4). Resolves to how to stop.
 *
 * @throws Error when nothing can listen there
 */
export async function serveMetrics(address: MetricsAddress, text: () => Promise<string>): Promise<() => Promise<void>> {
  const server = createServer((request, response) => {
    request.resume();
    if (request.url !== "/-/metrics") return void response.writeHead(404).end();
    text().then(
      (metrics) => response.writeHead(200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" }).end(metrics),
      () => response.writeHead(500).end(),
    );
  });
  if ("path" in address) await rm(address.path, { force: true });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(address, resolve));
  return () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
}
