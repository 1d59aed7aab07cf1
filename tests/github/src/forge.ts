import { mkdirSync } from "node:fs";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createAdaptorServer } from "@hono/node-server";
import { createApp } from "./app.ts";
import type { ForgeConfig } from "./config.ts";
import type { ForgeContext } from "./forge.context.ts";
import { openDatabase } from "./state/database.ts";
import { createDeliverer } from "./webhooks/deliver.ts";

export type RunningForge = {
  readonly port: number;
  /** Ends requests and webhooks and closes the state, in less than 5 s. */
  stop(): Promise<void>;
};

/** How long running requests, such as a push, may take to finish. */
const drainMs = 4000;

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

/** Serves the stand-in on loopback, with its state in a directory. Throws if the port is taken. */
export async function startForge(config: ForgeConfig): Promise<RunningForge> {
  const directory = join(config.dataDirectory, "forge");
  mkdirSync(join(directory, "repositories"), { recursive: true, mode: 0o700 });
  const database = openDatabase(join(directory, "forge.sqlite"));
  const target = () => ({ url: context.config.webhookUrl, secret: context.config.app.webhookSecret });
  const deliverer = createDeliverer({ database, target });
  const context: ForgeContext = {
    config: { ...config },
    directory,
    database,
    deliverer,
    inRepository: createQueues(),
  };
  const server = createAdaptorServer({ fetch: createApp(context).fetch }) as Server;
  let port: number;
  try {
    port = await listen(server, config.port, "127.0.0.1");
  } catch (error) {
    database.close();
    throw error;
  }
  deliverer.wake();
  return {
    port,
    async stop() {
      await close(server);
      await deliverer.stop();
      database.close();
    },
  };
}
