import { endpointKey } from "@towpath/runner-api";
import { pino } from "pino";
import { startRunner } from "./compose.ts";
import { type RunnerConfig, readConfig } from "./config.ts";

/** From the signal on; the supervisor kills soon after. */
const endWithinMs = 6_500;

function config(): RunnerConfig {
  try {
    return readConfig();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  }
}

const settings = config();
const log = pino({ level: settings.logLevel, base: { role: "runner" } });

try {
  const runner = await startRunner(settings, log);
  let stopping = false;
  const stop = async () => {
    if (stopping) return;
    stopping = true;
    log.info("stopping");
    // A database that swallows packets must not hold the end up: what is left undone is found by others.
    setTimeout(() => process.exit(1), endWithinMs).unref();
    await runner.close();
    process.exit(0);
  };
  process.on("SIGTERM", () => void stop());
  process.on("SIGINT", () => void stop());
  log.info({ address: endpointKey(runner.address) }, "ready");
  // The supervisor waits for this and not for the line, which the log level may leave out.
  process.send?.("ready");
} catch (error) {
  log.fatal({ err: error }, error instanceof Error ? error.message : "the runner could not start");
  process.exit(1);
}
