import { type Catalog, createCatalog } from "@towpath/mcp/portal";
import type { Logger } from "pino";
import { z } from "zod";
import { type LoadPortals, portalSchema, type StoredPortal } from "../read-model/portals.ts";
import type { Route } from "../read-model/routes.ts";
import { readSnapshot, writeSnapshot } from "../route/snapshot-file.ts";

/** A portal with the merged lists of its servers. */
export type Portal = StoredPortal & { readonly catalog: Catalog };

/** The lists of a portal that have changed. */
export type ChangedLists = { readonly tools: boolean; readonly resources: boolean; readonly prompts: boolean };
type OnChanged = (changed: ChangedLists) => void;

const snapshotName = "portals.json";
const snapshotSchema = z.object({ portals: z.array(portalSchema) });

type Parts = {
  readonly load: LoadPortals;
  readonly directory: string;
  /** Among processes that share the directory, one writes the snapshot; all read it. */
  readonly writesSnapshot: boolean;
  readonly log: Logger;
};

/**
 * The portals that have a route, in memory. If they can't be reloaded they stay unchanged, and a start without the
 * database finds them in a snapshot (GW-10).
 */
export class Portals {
  readonly #parts: Parts;
  readonly #portals = new Map<string, Portal>();
  readonly #listeners = new Map<string, Set<OnChanged>>();
  #loading: Promise<void> = Promise.resolve();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Takes the portals of the last snapshot. Never rejects. */
  async loadSnapshot(): Promise<void> {
    const found = await readSnapshot(this.#parts.directory, snapshotName, snapshotSchema);
    for (const stored of found?.portals ?? []) this.#replace(stored);
  }

  /** Waits for a load that is under way. Null: unknown, or the database is unavailable. */
  async find(portalId: string): Promise<Portal | null> {
    const known = this.#portals.get(portalId);
    if (known) return known;
    await this.#loading;
    return this.#portals.get(portalId) ?? null;
  }

  /** Updates them after the routes were loaded. Never rejects. */
  refresh(routes: readonly Route[]): Promise<void> {
    const ids = routes.flatMap(({ target }) => (target.kind === "portal" ? [target.portalId] : []));
    if (ids.length === 0 && this.#portals.size === 0) return this.#loading;
    this.#loading = this.#loading.then(() => this.#refresh(ids));
    return this.#loading;
  }

  /** Calls back whenever lists of a portal have changed; returns a function that stops it. */
  onChanged(portalId: string, listener: OnChanged): () => void {
    const listeners = this.#listeners.get(portalId) ?? new Set();
    this.#listeners.set(portalId, listeners);
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(portalId);
    };
  }

  async #refresh(ids: readonly string[]): Promise<void> {
    const { load, log } = this.#parts;
    try {
      const known = new Map([...this.#portals].map(([id, { version }]) => [id, version]));
      const { present, changed } = await load(ids, known);
      const gone = [...this.#portals.keys()].filter((id) => !present.has(id));
      for (const id of gone) this.#portals.delete(id);
      for (const stored of changed) this.#replace(stored);
      if (gone.length + changed.length > 0) await this.#save();
    } catch (error) {
      log.warn({ err: error }, "portals could not be reloaded; the last known ones stay");
    }
  }

  async #save(): Promise<void> {
    const { directory, writesSnapshot } = this.#parts;
    if (!writesSnapshot) return;
    const portals = [...this.#portals.values()].map(({ catalog, ...stored }) => stored);
    await writeSnapshot(directory, snapshotName, JSON.stringify({ portals }));
  }

  #replace(stored: StoredPortal): void {
    const portal = { ...stored, catalog: createCatalog(stored.members) };
    const before = this.#portals.get(portal.portalId);
    this.#portals.set(portal.portalId, portal);
    if (!before) return;
    const differs = (...lists: (keyof Catalog)[]) =>
      lists.some((list) => JSON.stringify(before.catalog[list]) !== JSON.stringify(portal.catalog[list]));
    const changed = {
      tools: differs("tools"),
      resources: differs("resources", "templates"),
      prompts: differs("prompts"),
    };
    if (!changed.tools && !changed.resources && !changed.prompts) return;
    for (const listener of [...(this.#listeners.get(portal.portalId) ?? [])]) listener(changed);
  }
}
