import { stripVTControlCharacters } from "node:util";
import { buildLogEntrySchema } from "@towpath/core/build/contract";
import { FrameFolder, foldedTitle, type LineGroup } from "@towpath/core/traceback/schema";
import { z } from "zod";
import { lineText } from "../deploy/follow-build.ts";
import type { Api } from "../instance/api.ts";
import { buildOf, listBuilds } from "../servers/builds.ts";
import { projectPath } from "../servers/list.ts";
import { CommandError, dim, isVerbose, note, output, plain, print, printsJson, red } from "../terminal/terminal.ts";

const serverLineSchema = z.looseObject({ id: z.number(), time: z.string(), stream: z.string(), line: z.string() });
type ServerLine = z.infer<typeof serverLineSchema>;
const serverLogSchema = z.object({ deploymentId: z.string().nullable(), data: z.array(serverLineSchema) });

function printServerLine(entry: ServerLine): void {
  const text = plain(entry.line);
  output(entry, () => print(`${dim(entry.time)}  ${entry.stream === "stderr" ? red(text) : text}`));
}

/** Prints lines as they come; without `--verbose`, runs of frames of frameworks as one line. */
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

/** `limit`: only so many of the newest lines. */
type Shown = { readonly follow: boolean; readonly limit: number | undefined };

/** What the live server has printed, oldest first. */
export async function serverLog(api: Api, name: string, { follow, limit }: Shown): Promise<number> {
  const query = limit === undefined ? "" : `?limit=${limit}`;
  const { deploymentId, data } = await api.call("GET", `${projectPath(name)}/server-log${query}`, serverLogSchema);
  if (deploymentId === null) throw new CommandError(`${name} isn't live. See towpath status ${name}.`);
  const printer = serverLinePrinter();
  if (!follow) {
    data.forEach(printer.push);
    printer.end();
    if (data.length === 0) note(`The live version of ${name} has printed nothing.`);
    return 0;
  }
  for await (const event of api.events(`/api/deployments/${deploymentId}/log`)) {
    if (event.event === "line") printer.push(serverLineSchema.parse(JSON.parse(event.data)));
  }
  return 0;
}

const pageLines = 1000;

/** The log of the newest build, or of a chosen one (see `buildOf`), oldest line first. */
export async function buildLog(
  api: Api,
  name: string,
  { follow, limit, chosen }: Shown & { readonly chosen: string | undefined },
): Promise<number> {
  const builds = await listBuilds(api, name);
  const found = chosen === undefined ? builds[0] : buildOf(chosen, builds);
  if (!found) throw new CommandError(`${name} has no build.`);
  const show = (line: z.infer<typeof buildLogEntrySchema>) => output(line, () => print(lineText(line)));
  if (follow) {
    for await (const { event, data } of api.events(`/api/builds/${found.id}/log`)) {
      if (event === "line") show(buildLogEntrySchema.parse(JSON.parse(data)));
    }
    return 0;
  }
  const page = z.object({ data: z.array(buildLogEntrySchema) });
  let newest: z.infer<typeof buildLogEntrySchema>[] = [];
  for (let after = 0; ; ) {
    const { data } = await api.call("GET", `/api/v1/builds/${found.id}/log?after=${after}&limit=${pageLines}`, page);
    if (limit === undefined) data.forEach(show);
    else newest = [...newest, ...data].slice(-limit);
    if (data.length < pageLines) break;
    after = data.at(-1)?.line ?? after;
  }
  newest.forEach(show);
  return 0;
}
