import pino from "pino";
import { startGateway } from "./compose.ts";
import { type GatewayConfig, readConfig } from "./config.ts";

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

const settings = config();
const log = pino({ level: settings.logLevel, base: { role: "gateway" } });

try {
  const gateway = await startGateway(settings, log);
  log.info({ host: settings.host, port: gateway.port }, "ready");
  // The supervisor waits for this and not for the line, which the log level may leave out.
  process.send?.("ready");
  let stopping = false;
  const stop = async () => {
    if (stopping) return;
    stopping = true;
    log.info("stopping");
    await gateway.stop(graceMs);
    process.exit(0);
  };
  process.on("SIGTERM", () => void stop());
  process.on("SIGINT", () => void stop());
} catch (error) {
  log.fatal({ err: error }, error instanceof Error ? error.message : "the gateway could not start");
  process.exit(1);
}
