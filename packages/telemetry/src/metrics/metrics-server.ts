import { rename, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { Logger } from "pino";

/** A port, or the path of a socket. */
export type MetricsAddress = { readonly host: string; readonly port: number } | { readonly path: string };

/** How long a port may still belong to the process that this one replaces. */
const retryMs = 1000;

/**
 * Serves `/-/metrics` to anyone who reaches the address: `text` in Prometheus' text format (0.0.4). A socket is taken
 * over from another process; a port that is in use is tried again each second, because metrics must not keep a process
 * from its work. Resolves to how to stop.
 */
export async function serveMetrics(
  address: MetricsAddress,
  text: () => Promise<string>,
  log: Logger,
): Promise<() => Promise<void>> {
  const server = createServer((request, response) => {
    request.resume();
    if (request.url !== "/-/metrics") return void response.writeHead(404).end();
    text().then(
      (metrics) => response.writeHead(200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" }).end(metrics),
      (error: unknown) => {
        log.error({ err: error }, "metrics can't be read");
        response.writeHead(500).end();
      },
    );
  });
  const stopping = new AbortController();
  await listen(server, address).catch((error: unknown) => {
    log.warn({ err: error, ...address }, "metrics can't be served yet");
    retry(server, address, stopping.signal);
  });
  return () =>
    new Promise((resolve) => {
      stopping.abort();
      if (!server.listening) return resolve();
      server.close(() => resolve());
      server.closeAllConnections();
    });
}

function retry(server: Server, address: MetricsAddress, signal: AbortSignal): void {
  const timer = setTimeout(() => listen(server, address).catch(() => retry(server, address, signal)), retryMs);
  signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
  timer.unref();
}

/** @throws Error when nothing can listen there */
async function listen(server: Server, address: MetricsAddress): Promise<void> {
  const own = "path" in address ? { path: `${address.path}.${process.pid}` } : address;
  // Left by a killed process with the same id.
  if ("path" in own) await rm(own.path, { force: true });
  const failed = Promise.withResolvers<never>();
  server.once("error", failed.reject);
  try {
    await Promise.race([new Promise<void>((resolve) => server.listen(own, resolve)), failed.promise]);
  } finally {
    server.off("error", failed.reject);
  }
  // Not bound there at once: closing a socket removes its first name, which a process that took over would lose.
  if ("path" in address && "path" in own) await rename(own.path, address.path);
}
