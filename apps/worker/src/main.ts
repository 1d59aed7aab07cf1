import { exitOnFailure, reportReady, settingsOrExit, stopOnSignal } from "@towpath/role";
import { pino } from "pino";
import { startWorker } from "./compose.ts";
import { readConfig } from "./config.ts";

const config = settingsOrExit(readConfig);
const log = pino({ level: config.logLevel, base: { role: "worker" } });

try {
  const worker = await startWorker(config, log);
  stopOnSignal(log, () => worker.stop());
  reportReady(log);
} catch (error) {
  exitOnFailure(log, error);
}
