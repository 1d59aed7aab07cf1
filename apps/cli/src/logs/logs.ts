import { parseArgs } from "node:util";
import { z } from "zod";
import { openApi } from "../instance/api.ts";
import { resolveDataDirectory } from "../instance/instance.ts";
import { CommandError, dim, print, red, yellow } from "../terminal/terminal.ts";

/** What the text form needs of a request-log row; `--json` prints all that the API gives. */
const rowSchema = z.looseObject({
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
});
type Row = z.infer<typeof rowSchema>;

/** Clients and servers choose these texts: removes line breaks and terminal control characters. */
const plain = (text: string) => text.replaceAll(/\p{Cc}+/gu, " ");

/** Errors and refusals stand out without colors too, such as in a file. */
const markOf = (row: Row) => (row.isRefused ? yellow("!") : row.isError ? red("✗") : " ");

/** One line for a row: mark, time, HTTP status, duration, method with its tool, prompt or resource, outcome, who called. */
function asText(row: Row): string {
  const what = row.target ? `${row.method} ${row.target}` : (row.method ?? "(no method)");
  const status = row.isError ? red(String(row.httpStatus)) : String(row.httpStatus);
  const words = row.errorMessage ? `${row.outcome}: ${row.errorMessage}` : row.outcome;
  const outcome = row.isError ? red(plain(words)) : plain(words);
  const who = dim(plain(`${row.client ?? "unknown client"}, ${row.principal}`));
  return `${markOf(row)} ${dim(row.time)}  ${status}  ${row.durationMs.toFixed(1).padStart(8)} ms  ${plain(what)}  ${outcome}  ${who}`;
}

/**
 * `towpath logs NAME [QUERY]`: the newest request-log rows, newest first. The query is that of the page, such as
 * `tool:echo client:cursor`; `--errors` is short for `status:error`; `--json` prints one JSON object a line.
 */
export async function logs(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      json: { type: "boolean", default: false },
      errors: { type: "boolean", default: false },
      limit: { type: "string", default: "100" },
      "data-dir": { type: "string" },
    },
  });
  const [name, ...words] = positionals;
  if (!name) throw new CommandError("Name a server: ./towpath logs NAME [QUERY]");
  const limit = Number(values.limit);
  if (!Number.isInteger(limit) || limit < 1 || limit > 1000)
    throw new CommandError(`--limit must be a number between 1 and 1000, not ${values.limit}.`);
  const api = openApi(resolveDataDirectory(values["data-dir"]));
  const text = words.join(" ");
  const query = new URLSearchParams({
    limit: values.limit,
    ...(values.errors ? { isError: "true" } : {}),
    ...(text === "" ? {} : { query: text }),
  });
  const path = `/api/v1/projects/${encodeURIComponent(name)}/logs?${query}`;
  const { data } = await api.call("GET", path, z.object({ data: z.array(rowSchema) }));
  for (const row of data) print(values.json ? JSON.stringify(row) : asText(row));
  if (data.length > 0 || values.json) return 0;
  if (text !== "" || values.errors) print(dim("No matching requests in the last 24 hours."));
  else print(dim(`No requests yet. Point an MCP client at ${api.serverUrl.replace("{name}", name)}/mcp.`));
  return 0;
}
