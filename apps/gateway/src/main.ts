import cluster from "node:cluster";
import {
  exitOnFailure,
  neededOpenFiles,
  openLog,
  reportReady,
  requireOpenFiles,
  resolveDrizzleFaster,
  settingsOrExit,
  stopLimits,
  stopOnSignal,
} from "@towpath/role";
import type { Logger } from "pino";
import { configOfWorker, type GatewayConfig, readConfig } from "./config.ts";
import type { Peers } from "./workers/peers.ts";

/** Time for running requests to end after SIGTERM. Buffers are written in the 1.3 s after it. */
const graceMs = 4000;
/** The primary kills workers in time to exit by itself; a worker exits before that. */
const workerKillMs = stopLimits.exitMs - 500;
const workerExitMs = workerKillMs - 300;

/** Serves in this process. Resolves to the port. */
async function serve(settings: GatewayConfig, log: Logger, peers?: Peers): Promise<number> {
  resolveDrizzleFaster();
  const { startGateway } = await import("./compose.ts");
  const gateway = await startGateway(settings, log, peers);
  stopOnSignal(log, () => gateway.stop(graceMs), peers ? workerExitMs : stopLimits.exitMs);
  return gateway.port;
}

async function serveByWorkers({ workers, gatewayId }: GatewayConfig, log: Logger): Promise<number> {
  const { Primary } = await import("./workers/primary.ts");
  const primary = new Primary({ count: workers, gatewayId, log });
  stopOnSignal(log, () => primary.stop(workerKillMs));
  try {
    return await primary.ready;
  } catch (error) {
    await primary.stop(workerKillMs);
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

const settings = settingsOrExit(readConfig);
requireOpenFiles(neededOpenFiles.any);
const isWorker = cluster.isWorker;
const log = openLog(settings.logLevel, { role: "gateway", ...(isWorker ? { worker: settings.workerIndex } : {}) });

try {
  if (isWorker) await serveAsWorker(settings, log);
  else {
    const port = await (settings.workers === 1 ? serve(settings, log) : serveByWorkers(settings, log));
    reportReady(log, { host: settings.host, port, workers: settings.workers });
  }
} catch (error) {
  exitOnFailure(log, error);
}
