import { Conditions, periodOf } from "../conditions.ts";
import { logQuerySchema, type TimeRange } from "../log-query.schema.ts";
import type { Reader } from "../reader.ts";

/** How FastMCP, the MCP SDKs and their low-level servers word arguments that a schema refuses: lower case, for LIKE. */
const refusals = [
  "%validation error for call[%",
  "%validation errors for call[%",
  "%validation error for %arguments%",
  "%validation errors for %arguments%",
  "%input validation error: %",
  "%invalid param%",
  "%invalid request param%",
  "%invalid arguments%",
  "%missing required argument%",
];

/** Of the latest so many; more don't change what to do. */
const maxErrors = 10_000;

/**
 * How many of the calls of each tool and prompt in the range failed because of their arguments, by what the server's
 * error message says, up to the last fold, some seconds ago (CAP-7). Of the latest 10,000 such calls.
 */
export async function argumentErrors(
  reader: Reader,
  { projectId, timeRange }: { readonly projectId: string; readonly timeRange: TimeRange },
): Promise<Readonly<Record<"tool" | "prompt", ReadonlyMap<string, number>>>> {
  const { from, to } = periodOf(logQuerySchema.parse({ projectId, timeRange }), Date.now());
  const conditions = new Conditions();
  const project = conditions.value(projectId);
  const [since, until] = [from, to].map((time) => `${conditions.value(new Date(time))}::timestamptz`);
  // By the index of messages, which are stored once each: rows without such a message aren't read.
  const { rows } = await reader.query<{ method: string; target: string; errors: string }>(
    `WITH refusals AS MATERIALIZED (SELECT id FROM request_log_message WHERE project_id = ${project}
       AND last_seen >= date_bin('1 minute', ${since}, 'epoch') AND id <> 0
       AND search_text COLLATE "C" LIKE ANY(${conditions.value(refusals)}::text[]))
     SELECT method, target, count(*) AS errors FROM (
       SELECT r.method, r.target FROM refusals CROSS JOIN LATERAL (
         SELECT time, method, target FROM request_log WHERE project_id = ${project}
           AND time >= ${since} AND time < ${until} AND error_message IS NOT NULL
           AND hashtextextended(error_message, 0) = refusals.id
         ORDER BY time DESC LIMIT ${maxErrors}) AS r
       ORDER BY r.time DESC LIMIT ${maxErrors}) AS latest
     WHERE method IN ('tools/call', 'prompts/get') AND target IS NOT NULL GROUP BY 1, 2`,
    conditions.values,
  );
  const of = (method: string) =>
    new Map(rows.filter((row) => row.method === method).map(({ target, errors }) => [target, Number(errors)]));
  return { tool: of("tools/call"), prompt: of("prompts/get") };
}
