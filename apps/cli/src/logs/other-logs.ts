import { stripVTControlCharacters } from "node:util";
import { buildLogEntrySchema } from "@towpath/core/delivery/build/contract";
import { FrameFolder, foldedTitle, type LineGroup } from "@towpath/core/delivery/traceback/schema";
import { z } from "zod";
import { lineText } from "../deploy/follow-build.ts";
import type { Api } from "../instance/api.ts";
import { buildOf, listBuilds } from "../servers/builds.ts";
import { projectPath } from "../servers/list.ts";
import { CommandError, dim, isVerbose, notice, output, plain, print, printsJson, red } from "../terminal/terminal.ts";

const serverLineSchema = z.looseObject({
  id: z.number(),
  time: z.string(),
  stream: z.string(),
  line: z.string(),
  /** Earlier instances don't say. */
  caller: z.string().nullish(),
});
type ServerLine = z.infer<typeof serverLineSchema>;
const serverLogSchema = z.object({ deploymentId: z.string().nullable(), data: z.array(serverLineSchema) });

function printServerLine(entry: ServerLine): void {
  const { stream, caller } = entry;
  const text = plain(stream === "platform" && caller ? `${caller}'s own instance: ${entry.line}` : entry.line);
  output(entry, () => print(`${dim(entry.time)}  ${stream === "stderr" ? red(text) : text}`));
}

/** Prints lines as they come; without `--verbose`, consecutive frames of frameworks become one line. */
function serverLinePrinter(): { readonly push: (entry: ServerLine) => void; readonly end: () => void } {
  if (isVerbose() || printsJson()) return { push: printServerLine, end() {} };
  const textOf = ({ line }: ServerLine) => stripVTControlCharacters(line);
  const folder = new FrameFolder(textOf);
  const show = (groups: readonly LineGroup<ServerLine>[]) => {
    for (const { lines, isFolded } of groups)
      if (isFolded) print(dim(`${lines[0]?.time}    … ${foldedTitle(lines.map(textOf))} (--verbose shows them)`));
      else lines.forEach(printServerLine);
  };
  return { push: (entry) => show(folder.push(entry)), end: () => show(folder.end()) };
}

/** `limit`: number of newest lines. */
type Shown = { readonly follow: boolean; readonly limit: number | undefined };

/** Output of the live server, oldest line first. */
export async function serverLog(api: Api, name: string, { follow, limit }: Shown): Promise<number> {
  const query = limit === undefined ? "" : `?limit=${limit}`;
  const { deploymentId, data } = await api.call("GET", `${projectPath(name)}/server-log${query}`, serverLogSchema);
  if (deploymentId === null) throw new CommandError(`${name} isn't live. See towpath status ${name}.`);
  const printer = serverLinePrinter();
  if (!follow || limit !== undefined) data.forEach(printer.push);
  if (!follow) {
    printer.end();
    if (data.length === 0) notice(`The live version of ${name} has printed nothing.`);
    return 0;
  }
  const after = limit === undefined ? 0 : (data.at(-1)?.id ?? 0);
  for await (const event of api.events(`/api/deployments/${deploymentId}/log?after=${after}`)) {
    if (event.event === "line") printer.push(serverLineSchema.parse(JSON.parse(event.data)));
  }
  printer.end();
  return 0;
}

const pageLines = 1000;
type BuildLogEntry = z.infer<typeof buildLogEntrySchema>;

/** The log of the newest build, or of a chosen one (see `buildOf`), oldest line first. */
export async function buildLog(
  api: Api,
  name: string,
  { follow, limit, chosen }: Shown & { readonly chosen: string | undefined },
): Promise<number> {
  const builds = await listBuilds(api, name);
  const found = chosen === undefined ? builds[0] : buildOf(chosen, builds);
  if (!found) throw new CommandError(`${name} has no build.`);
  const show = (line: BuildLogEntry) => output(line, () => print(lineText(line)));
  let after = 0;
  if (!follow || limit !== undefined) {
    const newest: BuildLogEntry[] = [];
    for await (const line of linesSoFar(api, found.id)) {
      after = line.line;
      if (limit === undefined) show(line);
      else if (newest.push(line) > limit) newest.shift();
    }
    newest.forEach(show);
  }
  if (!follow) return 0;
  for await (const { event, data } of api.events(`/api/builds/${found.id}/log?after=${after}`)) {
    if (event === "line") show(buildLogEntrySchema.parse(JSON.parse(data)));
  }
  return 0;
}

async function* linesSoFar(api: Api, buildId: string): AsyncGenerator<BuildLogEntry> {
  const page = z.object({ data: z.array(buildLogEntrySchema) });
  for (let after = 0; ; ) {
    const { data } = await api.call("GET", `/api/v1/builds/${buildId}/log?after=${after}&limit=${pageLines}`, page);
    yield* data;
    if (data.length < pageLines) return;
    after = data.at(-1)?.line ?? after;
  }
}
