import cluster from "node:cluster";
import {
  exitOnFailure,
  neededOpenFiles,
  openLog,
  replacedLimits,
  reportReady,
  requireOpenFiles,
  resolveDrizzleFaster,
  type StopReason,
  settingsOrExit,
  stopLimits,
  stopOnSignal,
} from "@towpath/role";
import type { Logger } from "pino";
import { configOfWorker, type GatewayConfig, lastRowsMs, readConfig } from "./config.ts";
import type { Peers } from "./workers/peers.ts";

/** Time for running requests to end after SIGTERM. Buffers are written in the 1.3 s after it. */
const graceMs = 4000;
/** Without its primary a worker keeps idle connections open for a while: clients that call often leave by themselves. */
const orphanIdleMs = 3000;
/** The primary kills workers in time to exit by itself; a worker exits before that. Only a pod has time for a bucket. */
function endLimits({ spoolBucket }: GatewayConfig) {
  const exitMs = stopLimits.exitMs + (spoolBucket === null ? 0 : lastRowsMs);
  const workerKillMs = exitMs - 500;
  return { exitMs, workerKillMs, workerExitMs: workerKillMs - 300 };
}

/** Serves in this process. Resolves to the port. */
async function serve(settings: GatewayConfig, log: Logger, peers?: Peers): Promise<number> {
  resolveDrizzleFaster();
  const { startGateway } = await import("./compose.ts");
  const gateway = await startGateway(settings, log, peers);
  const stop = (reason: StopReason) => {
    if (reason === "replaced") return gateway.stop(settings.drainMs, replacedLimits.idleMs);
    const isOrphan = peers !== undefined && !process.connected;
    return gateway.stop(graceMs, isOrphan ? orphanIdleMs : 0);
  };
  const { exitMs, workerExitMs } = endLimits(settings);
  stopOnSignal(log, stop, peers ? workerExitMs : exitMs);
  return gateway.port;
}

async function serveByWorkers(settings: GatewayConfig, log: Logger): Promise<number> {
  const { workers, gatewayId, listen, drainMs } = settings;
  const { exitMs, workerKillMs } = endLimits(settings);
  const { Primary } = await import("./workers/primary.ts");
  const onSocketLost = () =>
    exitOnFailure(log, new Error("no worker is left that holds the listening socket of the supervisor"));
  const primary = new Primary({ count: workers, gatewayId, onSocketLost: "fd" in listen ? onSocketLost : null, log });
  let isReady = false;
  const stop = (reason: StopReason) => {
    // Workers that haven't started yet have nothing to end, and don't hear it.
    const drains = reason === "replaced" && isReady;
    return primary.stop(drains ? reason : "SIGTERM", drains ? drainMs + workerKillMs : workerKillMs);
  };
  stopOnSignal(log, stop, exitMs);
  try {
    const port = await primary.ready;
    isReady = true;
    return port;
  } catch (error) {
    await primary.stop("SIGTERM", workerKillMs);
    throw error;
  }
}

/** When the primary is killed, `cluster` would end its workers at once, with the requests that they are serving. */
function endRequestsWithoutPrimary(): void {
  if (cluster.worker) cluster.worker.exitedAfterDisconnect = true;
  process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
}

async function serveAsWorker(settings: GatewayConfig, log: Logger): Promise<void> {
  endRequestsWithoutPrimary();
  const { createPeers } = await import("./workers/peers.ts");
  // Without the callback, a message to a primary that was killed would end this process, too.
  const send = (message: object) => void process.send?.(message, undefined, undefined, () => {});
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
