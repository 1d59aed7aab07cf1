import { buildLogEntrySchema } from "@towpath/core/build/contract";
import { z } from "zod";
import { lineText } from "../deploy/follow-build.ts";
import type { Api } from "../instance/api.ts";
import { projectPath } from "../servers/list.ts";
import { CommandError, dim, note, output, plain, print, red } from "../terminal/terminal.ts";

const serverLineSchema = z.looseObject({ id: z.number(), time: z.string(), stream: z.string(), line: z.string() });
type ServerLine = z.infer<typeof serverLineSchema>;
const serverLogSchema = z.object({ deploymentId: z.string().nullable(), data: z.array(serverLineSchema) });

function printServerLine(entry: ServerLine): void {
  const text = plain(entry.line);
  output(entry, () => print(`${dim(entry.time)}  ${entry.stream === "stderr" ? red(text) : text}`));
}

/** What the live server has printed, oldest first. */
export async function serverLog(api: Api, name: string, { follow }: { readonly follow: boolean }): Promise<number> {
  const { deploymentId, data } = await api.call("GET", `${projectPath(name)}/server-log`, serverLogSchema);
  if (deploymentId === null) throw new CommandError(`Nothing of ${name} is live. See towpath status ${name}.`);
  if (!follow) {
    for (const entry of data) printServerLine(entry);
    if (data.length === 0) note(`What is live of ${name} has printed nothing.`);
    return 0;
  }
  for await (const event of api.events(`/api/deployments/${deploymentId}/log`)) {
    if (event.event === "line") printServerLine(serverLineSchema.parse(JSON.parse(event.data)));
  }
  return 0;
}

const buildsSchema = z.object({ data: z.array(z.object({ id: z.string() })) });
const pageLines = 1000;

/** The log of the newest build, or of a chosen one. */
export async function buildLog(
  api: Api,
  name: string,
  { follow, chosen }: { readonly follow: boolean; readonly chosen: string | undefined },
): Promise<number> {
  const { data: builds } = await api.call("GET", `${projectPath(name)}/builds?limit=100`, buildsSchema);
  const found = chosen === undefined ? builds[0] : builds.find(({ id }) => id === chosen);
  if (!found)
    throw new CommandError(chosen === undefined ? `${name} has no build.` : `${name} has no build ${chosen}.`);
  const show = (line: z.infer<typeof buildLogEntrySchema>) => output(line, () => print(lineText(line)));
  if (follow) {
    for await (const { event, data } of api.events(`/api/builds/${found.id}/log`)) {
      if (event === "line") show(buildLogEntrySchema.parse(JSON.parse(data)));
    }
    return 0;
  }
  const page = z.object({ data: z.array(buildLogEntrySchema) });
  for (let after = 0; ; ) {
    const { data } = await api.call("GET", `/api/v1/builds/${found.id}/log?after=${after}&limit=${pageLines}`, page);
    data.forEach(show);
    if (data.length < pageLines) return 0;
    after = data.at(-1)?.line ?? after;
  }
}
