import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { z } from "zod";
import { type ReadModel, type Route, routeSchema } from "../read-model/routes.ts";
import type { RouteTable } from "./route-table.ts";
import { readSnapshot, writeSnapshot } from "./snapshot-file.ts";

const snapshotName = "routes.json";
const snapshotSchema = z.object({ routes: z.array(routeSchema) });
const reloadMs = 10_000;
/** How long the start waits for the database: a server may have become private while the gateway was down. */
const firstLoadMs = 1000;

type Parts = {
  readModel: ReadModel;
  table: RouteTable;
  directory: string;
  /** Among processes that share the directory, one writes the snapshot; all read it. */
  writesSnapshot: boolean;
  /** Called with the routes after each load from the database. */
  onLoaded: (routes: readonly Route[]) => void;
  log: Logger;
};

/** Keeps the route table current: loads it at the start, at every notification and every 10 s, and saves a snapshot (GW-10). */
export function createRouteFeed({ readModel, table, directory, writesSnapshot, onLoaded, log }: Parts) {
  let running: Promise<void> | null = null;
  let again = false;
  let fresh = false;
  let snapshot = "";
  let timer: NodeJS.Timeout | undefined;

  const load = async () => {
    try {
      const routes = await readModel.loadRoutes();
      table.replace(routes);
      onLoaded(routes);
      if (!fresh) log.info({ routes: routes.length }, "routes loaded");
      fresh = true;
      if (!writesSnapshot) return;
      const text = JSON.stringify(routes);
      if (text === snapshot) return;
      await writeSnapshot(directory, snapshotName, { routes });
      snapshot = text;
    } catch (error) {
      if (fresh) log.warn({ err: error }, "routes could not be reloaded; the last known ones stay");
      fresh = false;
    }
  };

  /** Requests a reload; calls during a reload lead to one more. */
  const reload = async () => {
    if (running) {
      again = true;
      return running;
    }
    running = (async () => {
      do {
        again = false;
        await load();
      } while (again);
    })().finally(() => {
      running = null;
    });
    return running;
  };

  return {
    /** Loads the routes of the last snapshot: a restart must not wait for the database. Never fails. */
    async loadSnapshot() {
      const found = await readSnapshot(directory, snapshotName, snapshotSchema);
      if (found) table.replace(found.routes);
    },
    start() {
      timer = setInterval(() => void reload(), reloadMs);
      timer.unref();
      const first = reload().then(() => {
        if (!fresh) log.warn({ routes: table.size }, "no database: serving from the route snapshot");
      });
      table.openAfter(Promise.race([first, sleep(firstLoadMs, undefined, { ref: false })]));
    },
    reload,
    /** Whether the last reload could reach the database. */
    isFresh: () => fresh,
    stop: () => clearInterval(timer),
  };
}
