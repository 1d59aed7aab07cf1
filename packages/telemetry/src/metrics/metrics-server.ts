import { rename, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { ListenOptions } from "node:net";
import type { Logger } from "pino";

/** A port, or the path of a socket. */
export type MetricsAddress = { readonly host: string; readonly port: number } | { readonly path: string };

const retryMs = 1000;

/**
 * Serves `/-/metrics` to anyone who reaches the address: `text` in Prometheus' text format (0.0.4). A socket is taken
 * over from another process, and a port is shared with one that may be ending its work. One that a stranger uses is tried
 * again each second, because metrics must not keep a process from its work. Resolves to how to stop.
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
  if ("port" in address) return listenWith(server, { ...address, reusePort: true });
  // Under another name at first: closing a socket removes its first name, which a process that took over would lose.
  const own = `${address.path}.${process.pid}`;
  await rm(own, { force: true });
  await listenWith(server, { path: own });
  await rename(own, address.path);
}

async function listenWith(server: Server, options: ListenOptions): Promise<void> {
  const failed = Promise.withResolvers<never>();
  server.once("error", failed.reject);
  try {
    await Promise.race([new Promise<void>((resolve) => server.listen(options, resolve)), failed.promise]);
  } finally {
    server.off("error", failed.reject);
  }
}
