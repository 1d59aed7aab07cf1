import {
  exitOnFailure,
  neededOpenFiles,
  openLog,
  reportReady,
  requireOpenFiles,
  resolveDrizzleFaster,
  settingsOrExit,
  stopOnSignal,
} from "@towpath/role";

// Before the modules that use the database.
resolveDrizzleFaster();
const { readConfig } = await import("./config.ts");
const { startRunner } = await import("./compose.ts");
const { endpointKey } = await import("@towpath/runner-api");

const config = settingsOrExit(readConfig);
requireOpenFiles(neededOpenFiles.sandboxes);
const log = openLog(config.logLevel, { role: "runner" });

try {
  const runner = await startRunner(config, log);
  // SIGTERM ends this process, as for a restart or an upgrade; SIGINT ends its servers too, as the launcher does.
  stopOnSignal(log, (reason) => (reason === "SIGINT" ? runner.close() : runner.leave()));
  reportReady(log, { address: endpointKey(runner.address) });
} catch (error) {
  exitOnFailure(log, error);
}
