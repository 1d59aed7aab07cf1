import { createServer } from "node:http";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Logger } from "pino";
import { longestRequestMs, requestHandler } from "./serve/request-handler.ts";
import type * as Built from "./src/server.ts";

/** Serves a production build: `node apps/web/serve.ts [directory of the build]`. */
async function main(): Promise<void> {
  const dist = resolve(process.argv[2] ?? join(import.meta.dirname, "dist"));
  // All our code comes from the bundle. Loading the sources as well would double the startup time.
  const built = (await import(pathToFileURL(join(dist, "server/server.js")).href)) as typeof Built;
  built.role.requireOpenFiles(built.role.neededOpenFiles.any);
  const { config, log, checkKeys, registry, metrics, exporter } = servicesOrExit(built);
  const onWrongKey = (error: Error) => fail(log, error, config);
  await checkKeys(onWrongKey).catch(onWrongKey);
  // Bounds the cost of slow clients and huge headers. Node itself responds with 408, 431 and 400.
  const limits = {
    maxHeaderSize: 16_384,
    requestTimeout: longestRequestMs,
    headersTimeout: 10_000,
    keepAliveTimeout: 65_000,
  };
  const server = createServer(
    { ...limits, connectionsCheckingInterval: 5000 },
    requestHandler({
      clientDirectory: join(dist, "client"),
      baseUrl: config.baseUrl,
      clientAddress: (peer, forwardedFor) =>
        built.forwardedAddress(built.plainAddress(peer), forwardedFor, config.isProxy),
      fetch: (request, route) => built.traced(exporter, { request, route }, () => built.default.fetch(request)),
      onEnded: (ended) => metrics.requestEnded(ended),
      onError: (error, request) => log.error({ err: error, path: request.url?.split("?", 1)[0] }, "request failed"),
    }),
  );
  if (config.metrics) await built.role.serveMetrics(config.metrics, () => registry.metrics(), log);
  server.on("error", (error) => fail(log, error, config));
  server.listen(config.port, config.host, () => {
    const address = server.address();
    const port = typeof address === "object" ? address?.port : config.port;
    built.role.reportReady(log, { url: config.baseUrl, port, startMs: Math.round(performance.now()) });
  });
  built.role.stopOnSignal(log, stopServer(server, built, built.role.stopLimits.exitMs - 500));
}

function servicesOrExit(built: typeof Built) {
  try {
    return built.services();
  } catch (error) {
    if (!(error instanceof built.SettingsError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}

function fail(log: Logger, error: NodeJS.ErrnoException, config: { host: string; port: number }): void {
  const reason =
    error.code === "EADDRINUSE"
      ? `Port ${config.port} is in use. Stop the program that uses it, or set TOWPATH_PORT to another port.`
      : error.message;
  log.fatal({ err: error }, reason);
  process.exit(1);
}

/** Drains requests in flight; the services get the rest of the time to exit. */
function stopServer(server: ReturnType<typeof createServer>, built: typeof Built, drainMs: number) {
  return async () => {
    const closed = new Promise<void>((done) => server.close(() => done()));
    server.closeIdleConnections();
    built.endStreams();
    const late = setTimeout(() => server.closeAllConnections(), drainMs);
    await closed;
    clearTimeout(late);
    await built.closeServices();
  };
}

await main();
