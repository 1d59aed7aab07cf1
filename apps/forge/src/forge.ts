import { mkdirSync } from "node:fs";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createAdaptorServer } from "@hono/node-server";
import type { Logger } from "pino";
import { createApp } from "./app.ts";
import type { ForgeConfig } from "./config.ts";
import type { ForgeContext } from "./forge.context.ts";
import { packObjects, repositoryDirectory } from "./git/bare-repository.ts";
import { ensureDirectory } from "./repositories.ts";
import { openDatabase } from "./state/database.ts";
import { pruneDeliveries } from "./state/deliveries.ts";
import { allRepositories } from "./state/repositories.ts";
import { deleteExpired } from "./state/tokens.ts";
import { createDeliverer } from "./webhooks/deliver.ts";
import { reconcileRefs } from "./webhooks/reconcile-refs.ts";

export type RunningForge = {
  readonly port: number;
  /** Ends requests and webhooks and closes the state, in less than 5 s. */
  stop(): Promise<void>;
};

/** How long running requests, such as a push, may take to finish. */
const drainMs = 4000;
const cleaningIntervalMs = 60 * 60_000;

function createQueues(): ForgeContext["inRepository"] {
  const tails = new Map<number, Promise<unknown>>();
  return (repositoryId, work) => {
    const result = (tails.get(repositoryId) ?? Promise.resolve()).then(work, work);
    const tail = result.catch(() => {});
    tails.set(repositoryId, tail);
    tail.then(() => {
      if (tails.get(repositoryId) === tail) tails.delete(repositoryId);
    });
    return result;
  };
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), drainMs);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
    server.closeIdleConnections();
  });
}

/**
 * Starts the stand-in for GitHub (GH-3). State and repositories are in `${dataDirectory}/forge`. Webhooks for pushes
 * that an earlier run didn't send are sent now.
 *
 * Throws if the port is taken or the state has another version.
 */
export async function startForge(config: ForgeConfig, log: Logger): Promise<RunningForge> {
  const directory = join(config.dataDirectory, "forge");
  mkdirSync(join(directory, "repositories"), { recursive: true, mode: 0o700 });
  const database = openDatabase(join(directory, "forge.sqlite"));
  const clean = () => {
    deleteExpired(database);
    pruneDeliveries(database);
  };
  clean();
  const target = () => ({ url: context.config.webhookUrl, secret: context.config.app.webhookSecret });
  const deliverer = createDeliverer({ database, log, target });
  const context: ForgeContext = {
    config: { ...config },
    directory,
    database,
    deliverer,
    log,
    inRepository: createQueues(),
  };

  for (const repository of allRepositories(database)) {
    await ensureDirectory(context, repository);
    await reconcileRefs(context, repository.id, null);
  }

  const server = createAdaptorServer({ fetch: createApp(context).fetch }) as Server;
  // A large first push may take longer than the default five minutes.
  server.requestTimeout = 30 * 60_000;
  let port: number;
  try {
    port = await listen(server, config.port, config.host);
  } catch (error) {
    database.close();
    throw error;
  }
  deliverer.wake();
  let stopping = false;
  const packAll = async () => {
    for (const { id } of stopping ? [] : allRepositories(database)) {
      if (stopping) return;
      await packObjects(repositoryDirectory(directory, id)).catch((error: unknown) =>
        log.warn({ err: error, repository: id }, "a repository could not be packed"),
      );
    }
  };
  let packing: Promise<void> = Promise.resolve();
  const cleaning = setInterval(() => {
    clean();
    packing = packing.then(packAll);
  }, cleaningIntervalMs);
  return {
    port,
    async stop() {
      stopping = true;
      clearInterval(cleaning);
      await close(server);
      await deliverer.stop();
      database.close();
    },
  };
}
