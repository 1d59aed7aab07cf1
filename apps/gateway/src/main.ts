import cluster from "node:cluster";
import pino, { type Logger } from "pino";
import { configOfWorker, type GatewayConfig, readConfig } from "./config.ts";
import type { Peers } from "./workers/peers.ts";

/** Time that running requests have to end after SIGTERM; with what follows the process is gone within 8 s. */
const graceMs = 4000;

function config(): GatewayConfig {
  try {
    return readConfig();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  }
}

/** Ends the process by SIGTERM or SIGINT, once `stop` has: with status 0 if that went well. */
function stopOnSignal(log: Logger, stop: () => Promise<boolean>): void {
  let isStopping = false;
  const take = async () => {
    if (isStopping) return;
    isStopping = true;
    log.info("stopping");
    process.exit((await stop()) ? 0 : 1);
  };
  process.on("SIGTERM", () => void take());
  process.on("SIGINT", () => void take());
}

/** Serves in this process. Resolves to the port. */
async function serve(settings: GatewayConfig, log: Logger, peers?: Peers): Promise<number> {
  const { startGateway } = await import("./compose.ts");
  const gateway = await startGateway(settings, log, peers);
  stopOnSignal(log, async () => {
    await gateway.stop(graceMs);
    return true;
  });
  return gateway.port;
}

async function serveByWorkers({ workers }: GatewayConfig, log: Logger): Promise<number> {
  const { Primary } = await import("./workers/primary.ts");
  const primary = new Primary(workers, log);
  stopOnSignal(log, () => primary.stop());
  try {
    return await primary.ready;
  } catch (error) {
    await primary.stop();
    throw error;
  }
}

async function serveAsWorker(settings: GatewayConfig, log: Logger): Promise<void> {
  const { createPeers } = await import("./workers/peers.ts");
  const send = (message: object) => void process.send?.(message);
  const onMessage = (take: (message: unknown) => void) => void process.on("message", take);
  const peers = createPeers({ count: settings.workers - 1, send, onMessage });
  send({ type: "ready", port: await serve(configOfWorker(settings), log, peers) });
}

const settings = config();
const isWorker = cluster.isWorker;
const base = { role: "gateway", ...(isWorker ? { worker: settings.workerIndex } : {}) };
const log = pino({ level: settings.logLevel, base });

try {
  if (isWorker) await serveAsWorker(settings, log);
  else {
    const port = await (settings.workers === 1 ? serve(settings, log) : serveByWorkers(settings, log));
    log.info({ host: settings.host, port, workers: settings.workers }, "ready");
    // The supervisor waits for this and not for the line, which the log level may leave out.
    process.send?.("ready");
  }
} catch (error) {
  log.fatal({ err: error }, error instanceof Error ? error.message : "the gateway could not start");
  process.exit(1);
}
