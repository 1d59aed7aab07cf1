import { createServer } from "node:http";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Logger } from "pino";
import { longestRequestMs, requestHandler } from "./serve/request-handler.ts";
import type * as Built from "./src/server.ts";

/** Serves a production build: `node apps/web/serve.ts DIRECTORY`. */
async function main(): Promise<void> {
  const [directory] = process.argv.slice(2);
  if (directory === undefined) throw new Error("Name the directory of the build.");
  const dist = resolve(directory);
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
  const { role } = built;
  const port = await role.listen(server, config.listen).catch((error: Error) => fail(log, error, config));
  const { replacedLimits, stopLimits } = role;
  const stopMetrics = config.metrics && (await built.serveMetrics(config.metrics, () => registry.metrics(), log));
  role.stopOnSignal(log, async (reason) => {
    // The next process, which may serve already, has the metrics from now on.
    await stopMetrics?.();
    // They reconnect, to the next process.
    built.endStreams();
    await role.drainHttpServer(
      server,
      reason === "replaced" ? replacedLimits : { requestsMs: stopLimits.exitMs - 500, idleMs: 0 },
    );
    await built.closeServices();
  });
  role.reportReady(log, { url: config.baseUrl, port, startMs: Math.round(performance.now()) });
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

function fail(log: Logger, error: NodeJS.ErrnoException, config: { host: string; port: number }): never {
  const reason =
    error.code === "EADDRINUSE"
      ? `Port ${config.port} is in use. Stop the program that uses it, or set TOWPATH_PORT to another port.`
      : error.message;
  log.fatal({ err: error }, reason);
  process.exit(1);
}

await main();
