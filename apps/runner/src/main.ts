import { exitOnFailure, reportReady, settingsOrExit, stopOnSignal } from "@towpath/role";
import { endpointKey } from "@towpath/runner-api";
import { pino } from "pino";
import { startRunner } from "./compose.ts";
import { readConfig } from "./config.ts";

const config = settingsOrExit(readConfig);
const log = pino({ level: config.logLevel, base: { role: "runner" } });

try {
  const runner = await startRunner(config, log);
  // SIGTERM ends this process, as for a restart or an upgrade; SIGINT ends its servers too, as the launcher does.
  stopOnSignal(log, (signal) => (signal === "SIGINT" ? runner.close() : runner.leave()));
  reportReady(log, { address: endpointKey(runner.address) });
} catch (error) {
  exitOnFailure(log, error);
}
