import pino from "pino";
import { ConfigError, type ForgeConfig, processConfig } from "./config.ts";
import { startForge } from "./forge.ts";

function readSettings(): ForgeConfig {
  try {
    return processConfig();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}

const config = readSettings();
const log = pino({ level: config.logLevel, base: { role: "forge" } });

try {
  const forge = await startForge(config, log);
  log.info({ url: config.url, port: forge.port }, "ready");
  // The supervisor waits for this and not for the line, which the log level may leave out.
  process.send?.("ready");
  const stop = async (signal: string) => {
    log.info({ signal }, "stopping");
    await forge.stop();
    process.exit(0);
  };
  process.once("SIGTERM", stop);
  process.once("SIGINT", stop);
} catch (error) {
  const isTaken = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
  log.fatal(
    { err: error },
    isTaken ? `Port ${config.port} is in use; set FORGE_PORT to another one.` : "the forge cannot start",
  );
  process.exitCode = 1;
}
