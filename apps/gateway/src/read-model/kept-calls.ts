import type { Pool } from "pg";

/** How a call ended, for whoever asks again. `dropped`: with a result that found no room; `asking`: a task needs input. */
export type EndState = "waiting" | "unknown" | "canceled" | "dropped" | "asking";

/** What identifies a call, before it is sent. `claim`: only one call has it at a time. */
export type NewCall = {
  readonly id: string;
  readonly projectId: string;
  readonly claim: string;
  readonly argumentsHash: string;
  readonly repeatName: string | null;
  readonly startedAt: Date;
  /** How long the server that it is for keeps results; through a portal, that is not the call's project. */
  readonly keepMs: number;
  /** Null: it is no task. */
  readonly task: TaskRowOfCall | null;
};

/** `owner`: null: it is in no list. `keepMs`: how long its result is kept. */
export type TaskRowOfCall = {
  readonly owner: string | null;
  readonly keepMs: number;
  /** Of a portal's task; null: the task is a server's. */
  readonly member: TaskMember | null;
};

/** The server of a portal that runs a task, and its own name for the tool. */
export type TaskMember = { readonly projectId: string; readonly tool: string };

/** A call as stored. */
export type StoredCall = {
  readonly id: string;
  readonly argumentsHash: string;
  readonly state: "running" | "fetched" | EndState;
  readonly known: string | null;
  readonly startedAt: Date;
  readonly endedAt: Date | null;
  readonly expiresAt: Date | null;
  /** False: its gateway has ended. */
  readonly isAlive: boolean;
  /** Null: there is none, or no longer. */
  readonly sealed: string | null;
};

type Ended = {
  readonly state: EndState;
  readonly known: string | null;
  readonly isFailed: boolean;
  /** False: its client got none, so it is in no list, unless somebody else has it as one. */
  readonly isTask: boolean;
  readonly keepMs: number;
};
type Result = { readonly sealed: string; readonly bytes: number };

const aliveSeconds = 10;
/**
 * While the database was unavailable, no gateway could say that it is alive: after a start of the database, each has as
 * long for it as between two times.
 */
const isDead = `alive_until <= now() AND pg_postmaster_start_time() <= now() - interval '${aliveSeconds} seconds'`;
/** A column of a read: false for a running call whose gateway has ended. */
export const isAlive = `NOT (state = 'running' AND ${isDead}) AS "isAlive"`;
const channel = "towpath_kept_call";
/** Kept names at the start of a gateway; beyond, it learns of later ones only. */
const maxNames = 100_000;

const inserted = `INSERT INTO kept_call (id, project_id, claim, arguments_hash, repeat_name, state, started_at, alive_until,
    keep_ms, task_owner, task_keep_ms, member_id, member_tool)
  VALUES ($1, $2, $3, $4, $5, 'running', $6, now() + interval '${aliveSeconds} seconds', $7, $8, $9, $10, $11)`;

const valuesOf = ({ id, projectId, claim, argumentsHash, repeatName, startedAt, keepMs, task }: NewCall) => [
  id,
  projectId,
  claim,
  argumentsHash,
  repeatName,
  startedAt,
  keepMs,
  task?.owner ?? null,
  task?.keepMs ?? null,
  task?.member?.projectId ?? null,
  task?.member?.tool ?? null,
];

/** The rows of calls that may be asked for again (decision 087), as gateways write and read them. */
export class KeptCallStore {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** Claims a call for this process. False: another call has the claim. */
  async claim(call: NewCall): Promise<boolean> {
    const text = `WITH claimed AS (${inserted} ON CONFLICT DO NOTHING RETURNING repeat_name)
      SELECT CASE WHEN repeat_name IS NOT NULL THEN pg_notify('${channel}', repeat_name) END FROM claimed`;
    if ((await this.#pool.query(text, valuesOf(call))).rowCount === 1) return true;
    const { rowCount } = await this.#pool.query(
      "UPDATE kept_call SET claim = NULL, arguments_hash = '' WHERE claim = $1 AND expires_at <= now()",
      [call.claim],
    );
    return rowCount === 1 ? this.claim(call) : false;
  }

  /** The call that has a claim, once one whose gateway has ended counts as unknown. */
  async find(claim: string): Promise<StoredCall | null> {
    const { rows } = await this.#pool.query<StoredCall>(
      `SELECT kept.id, arguments_hash AS "argumentsHash", state, known, started_at AS "startedAt",
         ended_at AS "endedAt", kept.expires_at AS "expiresAt", sealed,
         ${isAlive}
       FROM kept_call kept LEFT JOIN kept_result result ON result.call_id = kept.id
       WHERE claim = $1 AND (kept.expires_at IS NULL OR kept.expires_at > now())`,
      [claim],
    );
    const [found] = rows;
    if (!found || found.isAlive) return found ?? null;
    await this.sweep();
    return this.find(claim);
  }

  /**
   * Nothing of a call was executed: the next one with its claim is the first. False: somebody has it as a task, and must
   * learn how it ended.
   */
  async release(id: string): Promise<boolean> {
    const { rowCount } = await this.#pool.query(
      `WITH gone AS (DELETE FROM kept_call WHERE id = $1 AND NOT (is_awaited AND task_keep_ms IS NOT NULL))
       SELECT FROM kept_call WHERE id = $1 AND is_awaited AND task_keep_ms IS NOT NULL`,
      [id],
    );
    return rowCount === 0;
  }

  /** Its client has got the result. False: somebody else waits for it. */
  async delivered(id: string): Promise<boolean> {
    const { rowCount } = await this.#pool.query("DELETE FROM kept_call WHERE id = $1 AND NOT is_awaited", [id]);
    return rowCount === 1;
  }

  /** A repeat waits for the call. */
  async await(id: string): Promise<void> {
    await this.#pool.query("UPDATE kept_call SET is_awaited = true WHERE id = $1", [id]);
  }

  /**
   * Stores the end of a call, with its result if there is room for it, also of one that wasn't claimed before. Results
   * that were fetched make room.
   */
  async end(
    call: NewCall,
    { state, known, isFailed, isTask, keepMs }: Ended,
    result: Result | null,
    quota: number,
  ): Promise<void> {
    const client = await this.#pool.connect();
    try {
      await client.query("BEGIN");
      const isKept = result !== null && (await makeRoom(client, { ...call, ...result, quota }));
      await client.query(`${inserted} ON CONFLICT DO NOTHING`, valuesOf(call));
      const { rows } = await client.query<{ expires_at: Date }>(
        `UPDATE kept_call SET state = $2, known = $3, ended_at = now(), alive_until = NULL,
           expires_at = now() + make_interval(secs => $4 / 1000.0), is_failed = $5,
           task_owner = CASE WHEN $6 OR is_awaited THEN task_owner END,
           task_keep_ms = CASE WHEN $6 OR is_awaited THEN task_keep_ms END
         WHERE id = $1 AND state IN ('running', 'unknown') RETURNING expires_at`,
        [call.id, result !== null && !isKept ? "dropped" : state, known, keepMs, isFailed, isTask],
      );
      if (isKept && rows[0]) {
        await client.query(
          `INSERT INTO kept_result (call_id, project_id, sealed, bytes, expires_at) VALUES ($1, $2, $3, $4, $5)
           ON CONFLICT (call_id) DO UPDATE SET sealed = $3, bytes = $4, expires_at = $5`,
          [call.id, call.projectId, result.sealed, result.bytes, rows[0].expires_at],
        );
      }
      // What it asked its client for.
      if (call.task && !isKept) await client.query("DELETE FROM kept_result WHERE call_id = $1", [call.id]);
      if (call.repeatName !== null) await client.query(`SELECT pg_notify('${channel}', $1)`, [call.repeatName]);
      await client.query("COMMIT");
      client.release();
    } catch (error) {
      // Its transaction may be open.
      client.release(true);
      throw error;
    }
  }

  /** Somebody has got the result. */
  async fetched(id: string): Promise<void> {
    await this.#pool.query(
      "UPDATE kept_call SET state = 'fetched', fetched_at = now() WHERE id = $1 AND state = 'waiting'",
      [id],
    );
  }

  /**
   * The calls are under way in this process. Those that counted as unknown, as this process couldn't say so for a while,
   * run again, so that their claims don't end. Returns those that were canceled elsewhere.
   */
  async stayAlive(ids: readonly string[]): Promise<string[]> {
    // One that this process has just ended as unknown has no time any more.
    const { rows } = await this.#pool.query<{ id: string; state: string }>(
      `UPDATE kept_call SET alive_until = now() + interval '${aliveSeconds} seconds',
         state = CASE state WHEN 'unknown' THEN 'running' ELSE state END,
         known = CASE state WHEN 'unknown' THEN NULL ELSE known END,
         ended_at = CASE state WHEN 'unknown' THEN NULL ELSE ended_at END,
         expires_at = CASE state WHEN 'unknown' THEN NULL ELSE expires_at END
       WHERE id = ANY ($1) AND alive_until IS NOT NULL RETURNING id, state`,
      [ids],
    );
    return rows.filter(({ state }) => state === "canceled").map(({ id }) => id);
  }

  /** The caller of a running call wants no result any more. */
  async cancel(id: string, keepMinutes: number): Promise<void> {
    await this.#pool.query(
      `UPDATE kept_call SET state = 'canceled', ended_at = now(), expires_at = now() + make_interval(mins => $2)
       WHERE id = $1 AND state = 'running'`,
      [id, keepMinutes],
    );
  }

  /** Calls whose gateway has ended become unknown, and claims end whose time is over. */
  async sweep(): Promise<void> {
    await this.#pool.query(
      `UPDATE kept_call SET state = 'unknown', ended_at = alive_until, known = $1,
         expires_at = now() +
           make_interval(secs => coalesce(keep_ms / 1000.0, 60 * greatest(project.keep_results_minutes, 1)))
       FROM project WHERE project.id = kept_call.project_id AND state = 'running' AND ${isDead}`,
      ["The gateway that had sent it ended before the server answered."],
    );
    await this.#pool.query(
      "UPDATE kept_call SET claim = NULL, arguments_hash = '' WHERE claim IS NOT NULL AND expires_at <= now()",
    );
  }

  /** Names of calls without a key that may be repeated. */
  async repeatNames(): Promise<string[]> {
    const { rows } = await this.#pool.query<{ name: string }>(
      `SELECT repeat_name AS name FROM kept_call WHERE claim IS NOT NULL AND repeat_name IS NOT NULL LIMIT ${maxNames}`,
    );
    return rows.map(({ name }) => name);
  }
}

/** Of the channel on which gateways learn that a call without a key may be repeated. */
export const keptCallChannel = channel;

type Room = { readonly projectId: string; readonly bytes: number; readonly quota: number };

/** In a transaction. False: the project's results that nobody has fetched leave no room. */
export async function makeRoom(client: { query: Pool["query"] }, { projectId, bytes, quota }: Room): Promise<boolean> {
  if (bytes > quota) return false;
  // Several calls of a project may end at once.
  await client.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [`kept results of ${projectId}`]);
  const isOver = async () => {
    const { rows } = await client.query<{ bytes: string }>(
      "SELECT coalesce(sum(bytes), 0) AS bytes FROM kept_result WHERE project_id = $1 AND expires_at > now()",
      [projectId],
    );
    return Number(rows[0]?.bytes) + bytes > quota;
  };
  if (!(await isOver())) return true;
  await client.query(
    `DELETE FROM kept_result USING kept_call
     WHERE kept_call.id = call_id AND kept_call.state = 'fetched' AND kept_result.project_id = $1`,
    [projectId],
  );
  return !(await isOver());
}
