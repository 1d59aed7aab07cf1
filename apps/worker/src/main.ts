import { exitOnFailure, reportReady, resolveDrizzleFaster, settingsOrExit, stopOnSignal } from "@towpath/role";
import { pino } from "pino";

// Before the modules that use the database.
resolveDrizzleFaster();
const { readConfig } = await import("./config.ts");
const { startWorker } = await import("./compose.ts");

const config = settingsOrExit(readConfig);
const log = pino({ level: config.logLevel, base: { role: "worker" } });

try {
  const worker = await startWorker(config, log);
  stopOnSignal(log, () => worker.stop());
  reportReady(log);
} catch (error) {
  exitOnFailure(log, error);
}
