import { openDatabase } from "@towpath/db";
import { jobNames, openJobQueue } from "./queue.ts";

const columnsOfJobs = `
  SELECT column_name AS name FROM information_schema.columns
  WHERE table_schema = 'pgboss' AND table_name = 'job' AND is_generated = 'NEVER'`;

/**
 * Adds the jobs that haven't ended in another database to the queue of a new one, which this creates: the schema is the
 * queue's own, so its tables aren't copied. Nobody may work on either meanwhile. Resolves to how many there are.
 *
 * @throws Error when the new queue lacks one of them
 */
export async function moveJobs(fromUrl: string, toUrl: string): Promise<number> {
  const [from, to] = [fromUrl, toUrl].map((url) => openDatabase(url, { maxConnections: 1 }));
  if (from === undefined || to === undefined) throw new Error("Two databases are needed.");
  try {
    const { rows: found } = await from.pool.query("SELECT to_regclass('pgboss.job') IS NOT NULL AS is");
    if (!found[0].is) return 0;
    await (await openJobQueue({ databaseUrl: toUrl, onProblem: () => {} })).close();
    const columns = await Promise.all([from, to].map(({ pool }) => pool.query<{ name: string }>(columnsOfJobs)));
    const [ours = [], known = []] = columns.map(({ rows }) => rows.map(({ name }) => `"${name}"`));
    const shared = ours.filter((name) => known.includes(name)).join(", ");
    const unfinished = await from.pool.query<{ jobs: string | null; count: number }>(
      `SELECT jsonb_agg(to_jsonb(job))::text AS jobs, count(*)::int AS count FROM pgboss.job
       WHERE state < 'completed' AND name = ANY($1)`,
      [jobNames],
    );
    const [{ jobs, count } = { jobs: null, count: 0 }] = unfinished.rows;
    const added = await to.pool.query(
      `INSERT INTO pgboss.job (${shared}) SELECT ${shared} FROM jsonb_populate_recordset(NULL::pgboss.job, $1::jsonb)`,
      [jobs ?? "[]"],
    );
    if (added.rowCount !== count) throw new Error(`the queue has ${count} jobs, and ${added.rowCount} in the copy`);
    return count;
  } finally {
    await Promise.all([from.close(), to.close()]);
  }
}
