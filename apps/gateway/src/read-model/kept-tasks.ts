import type { Pool, PoolClient } from "pg";
import {
  isAlive,
  type KeptCallStore,
  makeRoom,
  type StoredCall,
  type TaskMember,
  type TaskRowOfCall,
} from "./kept-calls.ts";

/** A task as stored: the call, whether it ended with an error, how long its result is kept, and a portal's server. */
export type StoredTask = StoredCall & {
  readonly isFailed: boolean;
  readonly keepMs: number;
  readonly member: TaskMember | null;
  /** A request passes on what it asks. */
  readonly isTaken: boolean;
};

/**
 * Of the channel on which gateways learn that a task has changed: its call, whose list it is in, and, as it may have ended
 * by the time that they read it, whether a running one waited for its client (`asks`) or no longer (`works`).
 */
export const taskChannel = "towpath_task";

/** Where a page of a list begins: behind this task. */
export type TaskCursor = { readonly startedAt: Date; readonly id: string };

const columns = `kept.id, arguments_hash AS "argumentsHash", state, known, started_at AS "startedAt",
  ended_at AS "endedAt", kept.expires_at AS "expiresAt", is_failed AS "isFailed", task_keep_ms AS "keepMs",
  CASE WHEN member_id IS NOT NULL THEN json_build_object('projectId', member_id, 'tool', member_tool) END AS member,
  coalesce(taken_until > now(), false) AS "isTaken", ${isAlive}`;
const isKept = "task_keep_ms IS NOT NULL AND (kept.expires_at IS NULL OR kept.expires_at > now())";

/** `isFirst`: the request hasn't held these messages before. */
type Hold = { readonly holder: string; readonly isFirst: boolean };

/** Whether what a task waits for was stored. */
type Storing = "stored" | "changed" | "no room";

/** The rows of calls that are tasks, as gateways read and write them. */
export class KeptTaskStore {
  readonly #pool: Pool;
  readonly #calls: Pick<KeptCallStore, "sweep">;
  readonly #quota: number;

  /** `quota`: bytes of what is kept for one project. */
  constructor(pool: Pool, calls: Pick<KeptCallStore, "sweep">, quota: number) {
    this.#pool = pool;
    this.#calls = calls;
    this.#quota = quota;
  }

  /** Null: there is none, or no longer. */
  async find(id: string, projectId: string): Promise<StoredTask | null> {
    const { rows } = await this.#pool.query<StoredTask>(
      `SELECT ${columns}, sealed FROM kept_call kept LEFT JOIN kept_result result ON result.call_id = kept.id
       WHERE kept.id = $1 AND kept.project_id = $2 AND ${isKept}`,
      [id, projectId],
    );
    const [found] = rows;
    if (!found || found.isAlive) return found ?? null;
    await this.#calls.sweep();
    return this.find(id, projectId);
  }

  /** The newest of an owner, without results; those that wait for a client's answers have `sealed`. */
  async list(owner: string, after: TaskCursor | null, limit: number): Promise<StoredTask[]> {
    const { rows } = await this.#pool.query<StoredTask>(
      `SELECT ${columns}, CASE WHEN state = 'running' THEN sealed END AS sealed
       FROM kept_call kept LEFT JOIN kept_result result ON result.call_id = kept.id
       WHERE task_owner = $1 AND ($2::timestamptz IS NULL OR (started_at, kept.id) < ($2, $3::uuid)) AND ${isKept}
       ORDER BY started_at DESC, kept.id DESC LIMIT $4`,
      [owner, after?.startedAt ?? null, after?.id ?? null, limit],
    );
    if (rows.every(({ isAlive }) => isAlive)) return rows;
    await this.#calls.sweep();
    return this.list(owner, after, limit);
  }

  /** Somebody gets the id of a kept call as a task. False: the call is gone, as it wasn't run. */
  async mark(id: string, { owner, keepMs, member }: TaskRowOfCall): Promise<boolean> {
    const { rowCount } = await this.#pool.query(
      `UPDATE kept_call SET task_owner = coalesce(task_owner, $2), task_keep_ms = coalesce(task_keep_ms, $3),
         member_id = coalesce(member_id, $4), member_tool = coalesce(member_tool, $5), is_awaited = true
       WHERE id = $1`,
      [id, owner, keepMs, member?.projectId ?? null, member?.tool ?? null],
    );
    return rowCount === 1;
  }

  /** The messages of a running task's server that wait for the client. `changed`: there are some already, or it has ended. */
  async ask(id: string, projectId: string, sealed: string): Promise<Storing> {
    const stored = await this.#within(projectId, sealed.length, (client) =>
      client.query(
        `INSERT INTO kept_result (call_id, project_id, sealed, bytes, expires_at)
         SELECT id, project_id, $3, $4, now() + interval '1 day' FROM kept_call
         WHERE id = $1 AND project_id = $2 AND state = 'running'
         ON CONFLICT (call_id) DO NOTHING`,
        [id, projectId, sealed, sealed.length],
      ),
    );
    if (stored === "stored") await this.#notify(id, "asks");
    return stored;
  }

  /**
   * Holds the messages of a running task for one request, for ten seconds: the others leave them to it. False: another
   * one has them, or they have changed.
   */
  async holdAsked(id: string, sealed: string, { holder, isFirst }: Hold): Promise<boolean> {
    const { rowCount } = await this.#pool.query(
      `UPDATE kept_result SET taken_by = $3, taken_until = now() + interval '10 seconds'
       WHERE call_id = $1 AND sealed = $2 AND (taken_by = $3 OR taken_until IS NULL OR taken_until <= now())`,
      [id, sealed, holder],
    );
    if (rowCount === 1 && isFirst) await this.#notify(id, "works");
    return rowCount === 1;
  }

  /** The request no longer holds what the task asks: the next one passes it on. */
  async releaseAsked(id: string, holder: string): Promise<void> {
    const { rowCount } = await this.#pool.query(
      "UPDATE kept_result SET taken_by = NULL, taken_until = NULL WHERE call_id = $1 AND taken_by = $2",
      [id, holder],
    );
    if (rowCount === 1) await this.#notify(id, "asks");
  }

  /** The running tasks of an owner that wait for their client. */
  async asking(owner: string): Promise<{ readonly id: string; readonly sealed: string }[]> {
    const { rows } = await this.#pool.query<{ id: string; sealed: string }>(
      `SELECT id, sealed FROM kept_call JOIN kept_result ON call_id = id
       WHERE task_owner = $1 AND state = 'running' ORDER BY started_at DESC LIMIT 1000`,
      [owner],
    );
    return rows;
  }

  /** All messages of a running task are answered. False: there are others by now. */
  async allAnswered(id: string, sealed: string): Promise<boolean> {
    const { rows } = await this.#pool.query<{ isTaken: boolean }>(
      `DELETE FROM kept_result WHERE call_id = $1 AND sealed = $2
       RETURNING coalesce(taken_until > now(), false) AS "isTaken"`,
      [id, sealed],
    );
    // Else its state stays.
    if (rows[0]?.isTaken === false) await this.#notify(id, "works");
    return rows.length === 1;
  }

  /** A running task waits for its client, or no longer; of other changes a trigger notifies. */
  async #notify(id: string, now: "asks" | "works"): Promise<void> {
    await this.#pool.query(
      `SELECT pg_notify($2, id || ' ' || coalesce(task_owner, '') || ' ' || $3::text) FROM kept_call
       WHERE id = $1 AND state = 'running'`,
      [id, taskChannel, now],
    );
  }

  /** Replaces what a task asks, and the answers that it has so far. `changed`: another request was faster. */
  answer(
    task: Pick<StoredTask, "id"> & { readonly projectId: string },
    before: string,
    sealed: string,
  ): Promise<Storing> {
    return this.#within(task.projectId, sealed.length - before.length, (client) =>
      client.query("UPDATE kept_result SET sealed = $3, bytes = $4 WHERE call_id = $1 AND sealed = $2", [
        task.id,
        before,
        sealed,
        sealed.length,
      ]),
    );
  }

  /** Changes a row, if there is room for so many more bytes. */
  async #within(
    projectId: string,
    bytes: number,
    change: (client: PoolClient) => Promise<{ rowCount: number | null }>,
  ): Promise<Storing> {
    const client = await this.#pool.connect();
    try {
      await client.query("BEGIN");
      const isRoom = bytes <= 0 || (await makeRoom(client, { projectId, bytes, quota: this.#quota }));
      const isChanged = isRoom && (await change(client)).rowCount === 1;
      await client.query("COMMIT");
      client.release();
      return isChanged ? "stored" : isRoom ? "changed" : "no room";
    } catch (error) {
      // Its transaction may be open.
      client.release(true);
      throw error;
    }
  }

  /** Takes a task that has all answers, to run on in this process. False: another request was faster, or it has ended. */
  async resume(id: string, before: string): Promise<boolean> {
    const { rowCount } = await this.#pool.query(
      `WITH taken AS (DELETE FROM kept_result WHERE call_id = $1 AND sealed = $2 RETURNING call_id)
       UPDATE kept_call SET state = 'running', ended_at = now(), expires_at = NULL,
         alive_until = now() + interval '10 seconds'
       FROM taken WHERE id = call_id AND state = 'asking'`,
      [id, before],
    );
    return rowCount === 1;
  }

  /** The client wants no result any more. False: it has ended already. */
  async cancel(id: string, keepMs: number): Promise<boolean> {
    const { rowCount } = await this.#pool.query(
      `WITH canceled AS (UPDATE kept_call SET state = 'canceled', ended_at = now(),
           expires_at = now() + make_interval(secs => $2 / 1000.0)
         WHERE id = $1 AND state IN ('running', 'asking') RETURNING id),
       removed AS (DELETE FROM kept_result USING canceled WHERE call_id = canceled.id)
       SELECT id FROM canceled`,
      [id, keepMs],
    );
    return rowCount === 1;
  }

  /** Whether a server offers tasks itself, as its last handshake of an era reported; null: no gateway has seen one. */
  async supportOf(serverId: string, era: string): Promise<boolean | null> {
    const { rows } = await this.#pool.query<{ isOwn: boolean }>(
      `SELECT is_own AS "isOwn" FROM task_support WHERE server_id = $1 AND era = $2`,
      [serverId, era],
    );
    return rows[0]?.isOwn ?? null;
  }

  async learnSupport(projectId: string, serverId: string, era: string, isOwn: boolean): Promise<void> {
    await this.#pool.query(
      `INSERT INTO task_support (server_id, era, project_id, is_own, seen_at) VALUES ($1, $2, $3, $4, now())
       ON CONFLICT (server_id, era) DO UPDATE SET is_own = excluded.is_own, seen_at = now()`,
      [serverId, era, projectId, isOwn],
    );
  }
}
