import { pino } from "pino";
import { startWorker } from "./compose.ts";
import { readConfig, type WorkerConfig } from "./config.ts";

/** Counted from the signal; the supervisor sends SIGKILL soon after. */
const endWithinMs = 6_500;

function settings(): WorkerConfig {
  try {
    return readConfig();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  }
}

const config = settings();
const log = pino({ level: config.logLevel, base: { role: "worker" } });

try {
  const worker = await startWorker(config, log);
  let stopping = false;
  const stop = async (signal: string) => {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, "stopping");
    // A database that drops packets must not delay the exit; another worker's sweep finds what is left undone.
    setTimeout(() => process.exit(1), endWithinMs).unref();
    await worker.stop();
    process.exit(0);
  };
  process.on("SIGTERM", () => void stop("SIGTERM"));
  process.on("SIGINT", () => void stop("SIGINT"));
  log.info("ready");
  // The supervisor waits for this message; the log level may suppress the line above.
  process.send?.("ready");
} catch (error) {
  log.fatal({ err: error }, "the worker could not start");
  process.exit(1);
}
