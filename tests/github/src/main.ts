import {
  exitOnFailure,
  neededOpenFiles,
  openLog,
  reportReady,
  requireOpenFiles,
  settingsOrExit,
  stopOnSignal,
} from "@towpath/role";
import { readConfig } from "./config.ts";
import { startForge } from "./forge.ts";

const config = settingsOrExit(readConfig);
requireOpenFiles(neededOpenFiles.any);
const log = openLog(config.logLevel, { role: "forge" });

try {
  const forge = await startForge(config, log);
  stopOnSignal(log, () => forge.stop());
  reportReady(log, { url: config.url, port: forge.port });
} catch (error) {
  const isTaken = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
  exitOnFailure(log, error, isTaken ? `Port ${config.port} is in use; set FORGE_PORT to another one.` : undefined);
}
