import { z } from "zod";
import { parse } from "../commands/parse.ts";
import { type Api, connectApi } from "../instance/api.ts";
import { projectPath } from "../servers/list.ts";
import { dim, notice, output, plain, print, red, UsageError, yellow } from "../terminal/terminal.ts";

/** Fields of a request-log row for the text form; `--json` prints all fields. */
const rowSchema = z.looseObject({
  id: z.string(),
  time: z.string(),
  method: z.string().nullable(),
  target: z.string().nullable(),
  httpStatus: z.number(),
  isError: z.boolean(),
  isRefused: z.boolean(),
  errorMessage: z.string().nullable(),
  outcome: z.string(),
  durationMs: z.number(),
  client: z.string().nullable(),
  principal: z.string(),
  // Absent in earlier instances.
  principalName: z.string().nullish(),
  kept: z.string().nullish(),
});
type Row = z.infer<typeof rowSchema>;

/** Errors and refusals stand out without colors too, such as in a file. */
const markOf = (row: Row) => (row.isRefused ? yellow("!") : row.isError ? red("✗") : " ");

/** A row in one line: mark, time, HTTP status, duration, method with its tool, prompt or resource, outcome, caller. */
function asText(row: Row): string {
  const what = row.target ? `${row.method} ${row.target}` : (row.method ?? "(no method)");
  const status = row.isError ? red(String(row.httpStatus)) : String(row.httpStatus);
  const kept = row.kept ? ` (result ${row.kept})` : "";
  const result = row.errorMessage ? `${row.outcome}: ${row.errorMessage}` : row.outcome;
  const outcome = (row.isError ? red(plain(result)) : plain(result)) + plain(kept);
  const who = dim(plain(`${row.client ?? "unknown client"}, ${row.principalName ?? row.principal}`));
  return `${markOf(row)} ${dim(row.time)}  ${status}  ${row.durationMs.toFixed(1).padStart(8)} ms  ${plain(what)}  ${outcome}  ${who}`;
}

/**
 * `towpath logs NAME [QUERY]`: the newest request-log rows, newest first. The query has the page's syntax, such as
 * `tool:echo client:cursor`; `--errors` is short for `status:error`; `--json` prints one JSON object per line. With
 * `--server` and `--build`: those logs, oldest first.
 */
export async function logs(args: string[]): Promise<number> {
  const { values, positionals } = parse("logs", args);
  const [name = "", ...terms] = positionals;
  const limit = values.limit === undefined ? undefined : Number(values.limit);
  if (limit !== undefined && (!Number.isInteger(limit) || limit < 1 || limit > 1000))
    throw new UsageError(`--limit must be a number between 1 and 1000, not ${values.limit}.`);
  if (values.server && values.build) throw new UsageError("Pass --server or --build, not both.");
  const surplus = values.errors ? "--errors" : terms[values.build ? 1 : 0];
  if ((values.server || values.build) && surplus !== undefined)
    throw new UsageError(
      `${surplus} is for the log of requests, not for that of ${values.build ? "a build" : "the server"}.`,
    );
  const api = await connectApi(values);
  const follow = values.follow ?? false;
  if (values.server) return (await import("./other-logs.ts")).serverLog(api, name, { follow, limit });
  if (values.build) return (await import("./other-logs.ts")).buildLog(api, name, { follow, limit, chosen: terms[0] });
  const text = [...(values.errors ? ["status:error"] : []), ...terms].join(" ");
  const read = async (newest: number) => {
    const query = new URLSearchParams({ limit: String(newest), ...(text === "" ? {} : { query: text }) });
    return (await api.call("GET", `${projectPath(name)}/logs?${query}`, pageSchema, { retry: follow })).data;
  };
  if (follow) await followRows(api, name, limit ?? usualRows, read);
  else {
    const rows = await read(limit ?? usualRows);
    for (const row of rows) output(row, () => print(asText(row)));
    if (rows.length === 0) notice("No matching requests in the last 24 hours.");
  }
  return 0;
}

const pageSchema = z.object({ data: z.array(rowSchema) });
const usualRows = 100;
const maxRemembered = 10_000;

/** Prints the newest `limit` rows, oldest first, then new rows at each notification. */
async function followRows(
  api: Api,
  name: string,
  limit: number,
  read: (newest: number) => Promise<readonly Row[]>,
): Promise<void> {
  const project = z.object({ orgSlug: z.string(), pathName: z.string() });
  const { orgSlug, pathName } = await api.call("GET", projectPath(name), project);
  const seen = new Set<string>();
  let shown = limit;
  for await (const { event } of api.events(`/api/projects/${orgSlug}/${pathName}/request-log-changes`)) {
    if (event !== "changed") continue;
    // The limit is for the first page only: more rows may be new at once.
    const fresh = (await read(Math.max(limit, usualRows))).filter(({ id }) => !seen.has(id));
    for (const { id } of fresh) seen.add(id);
    for (const row of fresh.slice(0, shown).toReversed()) output(row, () => print(asText(row)));
    shown = Number.POSITIVE_INFINITY;
    for (const id of seen) {
      if (seen.size <= maxRemembered) break;
      seen.delete(id);
    }
  }
}
