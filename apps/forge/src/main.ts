import { exitOnFailure, reportReady, settingsOrExit, stopOnSignal } from "@towpath/role";
import { pino } from "pino";
import { readConfig } from "./config.ts";
import { startForge } from "./forge.ts";

const config = settingsOrExit(readConfig);
const log = pino({ level: config.logLevel, base: { role: "forge" } });

try {
  const forge = await startForge(config, log);
  stopOnSignal(log, () => forge.stop());
  reportReady(log, { url: config.url, port: forge.port });
} catch (error) {
  const isTaken = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
  exitOnFailure(log, error, isTaken ? `Port ${config.port} is in use; set FORGE_PORT to another one.` : undefined);
}
