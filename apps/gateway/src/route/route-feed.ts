import type { Notifications } from "@towpath/db/notifications";
import type { Logger } from "pino";
import { z } from "zod";
import { type ProjectRoutes, type ReadModel, type RouteReader, routeSchema } from "../read-model/routes.ts";
import type { RouteTable } from "./route-table.ts";
import { readSnapshot, writeSnapshot } from "./snapshot-file.ts";

const snapshotName = "routes.json";
const snapshotSchema = z.object({ routes: z.array(routeSchema) });
const reloadMs = 10_000;
/** How long the start waits for the database: a server may have become private while the gateway was down. */
const firstLoadMs = 1000;
/** With more changed projects than this, all are compared. */
const maxChanged = 1000;
/** The share of the time that making snapshots may take; it blocks the event loop. */
const maxSnapshotShare = 0.02;

const routeChannel = "towpath_route";

type Parts = {
  readModel: ReadModel;
  table: RouteTable;
  directory: string;
  /** Among processes that share the directory, one writes the snapshot; all read it. */
  writesSnapshot: boolean;
  /** Called after each load from the database. */
  onLoaded: () => void;
  log: Logger;
};

type Load = { readonly gone: readonly string[]; readonly changed: readonly ProjectRoutes[] };

/**
 * Keeps the route table current (GW-10): loads the routes of the projects that notifications name; and at the start, after
 * each connect and every 10 s, of all that differ, which their digests show. Saves a snapshot.
 */
export function createRouteFeed({ readModel, table, directory, writesSnapshot, onLoaded, log }: Parts) {
  /** Of each project as the table has it; empty until the first load. */
  const digests = new Map<string, string>();
  /** What the next load is for. */
  let changed = new Set<string>();
  let mustCompare = false;
  let running: Promise<void> | null = null;
  let fresh = false;
  let isUnsaved = false;
  let saveAfter = Number.NEGATIVE_INFINITY;
  let saving: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  const save = async (): Promise<void> => {
    if (!writesSnapshot || !isUnsaved || saving) return;
    const waitMs = saveAfter - performance.now();
    if (waitMs > 0) {
      saving = setTimeout(() => {
        saving = undefined;
        save().catch((error: unknown) => log.warn({ err: error }, "the route snapshot could not be written"));
      }, waitMs);
      saving.unref();
      return;
    }
    isUnsaved = false;
    const before = process.threadCpuUsage();
    const text = JSON.stringify({ routes: table.all() });
    const { user, system } = process.threadCpuUsage(before);
    saveAfter = performance.now() + (user + system) / 1000 / maxSnapshotShare;
    const previous = writing;
    writing = previous
      .catch(() => {})
      .then(() => writeSnapshot(directory, snapshotName, text))
      .catch((error: unknown) => {
        isUnsaved = true;
        throw error;
      });
    await writing;
  };

  const apply = ({ gone, changed: loaded }: Load) => {
    for (const projectId of gone) digests.delete(projectId);
    for (const { projectId, digest } of loaded) digests.set(projectId, digest);
    for (const projectId of table.apply(gone, loaded)) changed.add(projectId);
    if (gone.length + loaded.length > 0) isUnsaved = true;
  };

  /** One load. Requests that come meanwhile are for the next one. */
  const load = async () => {
    const [asked, comparesAll] = [[...changed], mustCompare || !fresh || changed.size > maxChanged];
    changed = new Set();
    mustCompare = false;
    try {
      apply(
        await readModel.read((reader) =>
          comparesAll ? compareAll(reader, digests, table) : loadProjects(reader, asked, table),
        ),
      );
      if (!fresh) log.info({ routes: table.size }, "routes loaded");
      fresh = true;
      onLoaded();
      await save();
    } catch (error) {
      if (fresh) log.warn({ err: error }, "routes could not be reloaded; the last known ones stay");
      fresh = false;
    }
  };

  /** Loads what is asked for; calls during a load lead to one more. Never rejects. */
  const run = () => {
    running ??= (async () => {
      // Without the database the next attempt is that of the timer.
      do await load();
      while (fresh && (mustCompare || changed.size > 0));
    })().finally(() => {
      running = null;
    });
    return running;
  };

  /** Compares all routes with the database's. */
  const reload = () => {
    mustCompare = true;
    return run();
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
      const given = new Promise<void>((resolve) => setTimeout(resolve, firstLoadMs).unref());
      table.openAfter(Promise.race([first, given]));
    },
    /** Follows changes; returns a function that stops it. */
    listen: (notifications: Notifications) =>
      notifications.subscribe({ channel: routeChannel }, (projectId) => {
        if (!projectId) return void reload();
        changed.add(projectId);
        void run();
      }),
    reload,
    /** Whether the last load could reach the database. */
    isFresh: () => fresh,
    stop() {
      clearInterval(timer);
      clearTimeout(saving);
    },
  };
}

/** The projects of the table whose routes differ from the database's. */
async function compareAll(reader: RouteReader, known: ReadonlyMap<string, string>, table: RouteTable): Promise<Load> {
  const goneFrom = (present: ReadonlySet<string>) => [...table.projects()].filter((id) => !present.has(id));
  if (known.size === 0) {
    const changed = await reader.load("all");
    return { gone: goneFrom(new Set(changed.map(({ projectId }) => projectId))), changed };
  }
  const current = await reader.digests();
  const differing = [...current].flatMap(([projectId, digest]) => (known.get(projectId) === digest ? [] : [projectId]));
  const changed = differing.length > 0 ? await reader.load(differing) : [];
  return { gone: goneFrom(new Set(current.keys())), changed };
}

/** Projects by id. A label that one of them has given up may be the former name of another, which gets it back. */
async function loadProjects(reader: RouteReader, asked: readonly string[], table: RouteTable): Promise<Load> {
  const heirs = await reader.ownersOfFormer(asked.flatMap((projectId) => table.labelsOf(projectId)));
  const projectIds = [...new Set([...asked, ...heirs])];
  const changed = await reader.load(projectIds);
  const present = new Set(changed.map(({ projectId }) => projectId));
  const gone = projectIds.filter((projectId) => !present.has(projectId) && table.labelsOf(projectId).length > 0);
  return { gone, changed };
}
