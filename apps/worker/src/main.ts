import {
  exitOnFailure,
  neededOpenFiles,
  openLog,
  replacedLimits,
  reportReady,
  requireOpenFiles,
  resolveDrizzleFaster,
  settingsOrExit,
  stopOnSignal,
} from "@towpath/role";

// Before the modules that use the database.
resolveDrizzleFaster();
const { readConfig } = await import("./config.ts");
const { startWorker } = await import("./compose.ts");

const config = settingsOrExit(readConfig);
requireOpenFiles(neededOpenFiles.sandboxes);
const log = openLog(config.logLevel, { role: "worker" });

try {
  const worker = await startWorker(config, log);
  stopOnSignal(log, (reason) => worker.stop(reason === "replaced" ? replacedLimits.requestsMs : 0));
  reportReady(log, { rebuilding: worker.rebuilding });
} catch (error) {
  exitOnFailure(log, error);
}
