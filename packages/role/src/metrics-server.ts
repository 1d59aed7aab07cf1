import { rename, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { ListenOptions } from "node:net";

/** A port, or the path of a socket. Both are taken over from an earlier process, which may be ending its work. */
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
  await ("path" in address ? listenAtPath(server, address.path) : listenWith(server, { ...address, reusePort: true }));
  return () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
}

/** Under another name at first: an earlier process removes its own socket when it closes it, and must not find this one. */
async function listenAtPath(server: Server, path: string): Promise<void> {
  const own = `${path}.${process.pid}`;
  await rm(own, { force: true });
  await listenWith(server, { path: own });
  await rename(own, path);
}

function listenWith(server: Server, options: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject).listen(options, resolve);
  });
}
