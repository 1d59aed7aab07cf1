import { createServer } from "node:http";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Logger } from "pino";
import { nodeHandler } from "./serve/node-handler.ts";
import { staticFiles } from "./serve/static-files.ts";
import type * as Built from "./src/server.ts";

/** How long requests in flight may take to end after SIGTERM, milliseconds. */
const drainMs = 6000;

/** Serves a production build: `node apps/web/serve.ts [folder of the build]`. */
async function main(): Promise<void> {
  const dist = resolve(process.argv[2] ?? join(import.meta.dirname, "dist"));
  // Everything of ours comes from the bundle: reading the sources beside it would take as long again.
  const [built, files] = await Promise.all([
    import(pathToFileURL(join(dist, "server/server.js")).href) as Promise<typeof Built>,
    staticFiles(join(dist, "client")),
  ]);
  const { config, log } = servicesOrExit(built);
  const dynamic = nodeHandler((request) => built.default.fetch(request), config.baseUrl);
  // 16 KiB of headers and 30 s for a request to arrive: slow or bloated clients cost little.
  const server = createServer({
    maxHeaderSize: 16_384,
    requestTimeout: 30_000,
    headersTimeout: 10_000,
    keepAliveTimeout: 65_000,
  });
  server.on("request", async (request, response) => {
    try {
      if (!(await files(request, response))) await dynamic(request, response);
    } catch (error) {
      log.error({ err: error, path: request.url?.split("?", 1)[0] }, "request failed");
      if (response.headersSent) response.destroy();
      else response.writeHead(500, { "content-type": "text/plain" }).end("Internal Server Error");
    }
  });
  server.on("error", (error) => fail(log, error, config));
  server.listen(config.port, config.host, () => {
    const address = server.address();
    const port = typeof address === "object" ? address?.port : config.port;
    log.info({ url: config.baseUrl, port, startMs: Math.round(performance.now()) }, "ready");
    // The supervisor waits for this and not for the line, which the log level may leave out.
    process.send?.("ready");
  });
  stopOnSignal(server, built, log);
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
      ? `Port ${config.port} is in use: stop the program that uses it, or choose another with TOWPATH_PORT.`
      : error.message;
  log.fatal({ err: error }, reason);
  process.exit(1);
}

function stopOnSignal(server: ReturnType<typeof createServer>, built: typeof Built, log: Logger): void {
  let stopping = false;
  const stop = async (signal: string) => {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, "stopping");
    const closed = new Promise<void>((done) => server.close(() => done()));
    server.closeIdleConnections();
    built.endStreams();
    const late = setTimeout(() => server.closeAllConnections(), drainMs);
    await closed;
    clearTimeout(late);
    await built.closeServices();
    log.info("stopped");
    process.exit(0);
  };
  process.on("SIGTERM", () => void stop("SIGTERM"));
  process.on("SIGINT", () => void stop("SIGINT"));
}

await main();
