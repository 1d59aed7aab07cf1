import { createBuilder } from "@towpath/builder";
import { createSecretBox } from "@towpath/core/secret";
import { openDatabase } from "@towpath/db";
import { createGitHub } from "@towpath/github";
import { openWorkerQueue } from "@towpath/queue";
import { createSandboxDriver } from "@towpath/runtime";
import pino from "pino";
import { readConfig, type WorkerConfig } from "./config.ts";
import { runBuild } from "./jobs/build-run.ts";
import { processDelivery } from "./jobs/webhook-process.ts";
import { createRunnerClient } from "./rollout/runner-client.ts";
import type { Services } from "./services.ts";
import { startSweeping } from "./sweep.ts";

const sweepEveryMs = 15_000;
const keepAliveMs = 5_000;
/** SIGTERM to gone is 8 s at most; the rest is for giving builds back and closing. */
const stopWithinMs = 5_000;

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
const database = openDatabase(config.databaseUrl);
const driver = createSandboxDriver({ stateDirectory: config.runDirectory, ...config.isolation });
const workers = await openWorkerQueue({
  databaseUrl: config.databaseUrl,
  onProblem: (problem) => log.warn({ err: problem }, "queue"),
});

const services: Services = {
  database,
  queue: workers.queue,
  github: createGitHub(config.github),
  builder: createBuilder(config.builder, driver),
  runner: createRunnerClient(`${config.runDirectory}/runner.sock`),
  isolation: () => driver.selfTest(),
  allowUnsandboxed: config.isolation.allowUnsandboxed,
  serverUrlTemplate: config.serverUrl,
  secrets: createSecretBox(config.secret),
  log,
  keepAliveMs,
};

const leftovers = await services.builder.cleanScratch();
if (leftovers > 0) log.warn({ leftovers }, "removed what killed builds had left");
await workers.work({
  concurrency: { "webhook.process": 2, "build.run": config.buildConcurrency },
  handlers: {
    "webhook.process": ({ deliveryId }) => processDelivery(services, deliveryId),
    "build.run": ({ buildId }, signal) => runBuild(services, buildId, signal),
  },
});
const stopSweeping = startSweeping(services, sweepEveryMs);

const isolation = await services.isolation();
if (!isolation.trusted) {
  const missing = isolation.checks.filter((check) => check.required && !check.ok);
  log.error({ missing, allowUnsandboxed: config.isolation.allowUnsandboxed }, "isolation cannot be set up");
}
log.info({ isolation: isolation.trusted, cgroup: isolation.cgroup }, "ready");

let stopping = false;
async function stop(signal: string): Promise<void> {
  if (stopping) return;
  stopping = true;
  log.info({ signal }, "stopping");
  await stopSweeping();
  await workers.stop(stopWithinMs);
  await driver.close();
  await database.close();
  log.info("stopped");
  process.exit(0);
}
process.on("SIGTERM", () => void stop("SIGTERM"));
process.on("SIGINT", () => void stop("SIGINT"));
