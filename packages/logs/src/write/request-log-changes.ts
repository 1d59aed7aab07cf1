import type { Pool } from "pg";

/** Channel with the id of a project whose request log has new rows. */
export const requestLogChannel = "towpath_request_log";

const everyMs = 1000;
const announcers = new WeakMap<Pool, Announcer>();

/**
 * Notifies `towpath_request_log` of projects with new rows: at once, then at most once a second for all projects
 * together, because PostgreSQL serializes the commits of notifying transactions. Never fails: open pages also refresh by
 * themselves from time to time.
 */
export function announceRequestLogs(pool: Pool, projectIds: Iterable<string>): void {
  let announcer = announcers.get(pool);
  if (!announcer) {
    announcer = new Announcer(pool);
    announcers.set(pool, announcer);
  }
  announcer.add(projectIds);
}

class Announcer {
  readonly #pool: Pool;
  readonly #changed = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  add(projectIds: Iterable<string>): void {
    for (const projectId of projectIds) this.#changed.add(projectId);
    if (this.#timer === undefined) this.#announce();
  }

  readonly #announce = (): void => {
    this.#timer = undefined;
    if (this.#changed.size === 0 || this.#pool.ending) return;
    const projects = [...this.#changed];
    this.#changed.clear();
    this.#timer = setTimeout(this.#announce, everyMs);
    this.#timer.unref();
    const text = `SELECT pg_notify('${requestLogChannel}', project) FROM unnest($1::text[]) AS project`;
    this.#pool.query(text, [projects]).catch(() => {});
  };
}
