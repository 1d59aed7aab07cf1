import { parseArgs } from "node:util";
import { z } from "zod";
import { openApi } from "../instance/api.ts";
import { resolveDataDirectory } from "../instance/instance.ts";
import { dim, print, Refusal, red } from "../terminal/terminal.ts";

/** A request-log row as the API and `--json` show it. */
const rowSchema = z.object({
  time: z.string(),
  method: z.string().nullable(),
  tool: z.string().nullable(),
  httpStatus: z.number(),
  isError: z.boolean(),
  durationMs: z.number(),
  client: z.string().nullable(),
  protocolVersion: z.string().nullable(),
  session: z.string().nullable(),
  principal: z.string(),
});
type Row = z.infer<typeof rowSchema>;

function asText(row: Row): string {
  const what = row.tool ? `${row.method} ${row.tool}` : (row.method ?? "(no method)");
  const status = row.isError ? red(String(row.httpStatus)) : String(row.httpStatus);
  return `${dim(row.time)}  ${status}  ${row.durationMs.toFixed(1).padStart(8)} ms  ${what}  ${dim(`${row.client ?? "unknown client"}, ${row.principal}`)}`;
}

/** `towpath logs NAME`: the newest request-log rows, newest first; `--json` prints one JSON object a line. */
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
  const [name, ...more] = positionals;
  if (!name || more.length > 0) throw new Refusal("Name one server: ./towpath logs NAME");
  const limit = Number(values.limit);
  if (!Number.isInteger(limit) || limit < 1 || limit > 1000)
    throw new Refusal(`--limit must be a number between 1 and 1000, not ${values.limit}.`);
  const api = openApi(resolveDataDirectory(values["data-dir"]));
  const query = new URLSearchParams({ limit: values.limit, ...(values.errors ? { isError: "true" } : {}) });
  const path = `/api/v1/projects/${encodeURIComponent(name)}/logs?${query}`;
  const { data } = await api.call("GET", path, z.object({ data: z.array(rowSchema) }));
  for (const row of data) print(values.json ? JSON.stringify(row) : asText(row));
  if (data.length === 0 && !values.json)
    print(dim(`No requests yet. Point an MCP client at ${api.serverUrl.replace("{name}", name)}/mcp.`));
  return 0;
}
