import { createReadStream, createWriteStream } from "node:fs";
import { lstat, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import type { ExportDocument } from "@towpath/core/delivery/export/schema";
import { unpackExport, variablesFileOf } from "@towpath/export";
import { z } from "zod";
import { parse } from "../commands/parse.ts";
import { type Api, connectApi } from "../instance/api.ts";
import { writePrivate } from "../instance/instance.ts";
import { projectPath } from "../servers/list.ts";
import { CommandError, dim, output, print, step, UsageError, yellow } from "../terminal/terminal.ts";
import { liveValues } from "./live-values.ts";

/** `towpath export NAME [TARGET]`: what is live of a server, as a directory or a tar (OPS-8). */
export async function exportServer(args: string[]): Promise<number> {
  const { values, positionals } = parse("export", args);
  const [name = "", given = name] = positionals;
  const path = projectPath(name);
  const target = resolve(given);
  const valuesFile = values["with-variables"] ? variablesFileOf(target) : null;
  if ((await foundAt(dirname(target))) === null) throw new UsageError(`There is no directory ${dirname(target)}.`);
  for (const file of [target, ...(valuesFile === null ? [] : [valuesFile])]) {
    if ((await foundAt(file)) !== null)
      throw new CommandError(`${file} exists already. Name another target, or remove it.`);
  }
  const api = await connectApi(values);
  if (valuesFile !== null && api.key !== null) throw elsewhere();
  const variables = valuesFile === null ? null : await readValues(api, values["data-dir"], name);
  const document = await step(`Exporting ${name}`, () => download(api, path, target));
  if (valuesFile !== null) await writePrivate(valuesFile, `${JSON.stringify(variables, null, 2)}\n`);
  const { name: server, source } = document;
  output({ name: server, target, variables: valuesFile, source }, () => printExported(document, target, valuesFile));
  return 0;
}

const elsewhere = () =>
  new UsageError(
    "--with-variables works on the instance's machine only: instances give out values of variables to no key. Log out, or name its data directory with --data-dir.",
  );

const foundAt = (path: string) => lstat(path).catch(() => null);

const liveSchema = z.object({ live: z.object({ deploymentId: z.string() }).nullable() });

async function readValues(api: Api, dataDirectory: string | undefined, name: string) {
  const { live } = await api.call("GET", `${projectPath(name)}/status`, liveSchema);
  return live === null ? {} : liveValues(dataDirectory, { deploymentId: live.deploymentId, name });
}

/** Writes the target as a whole or not at all. */
async function download(api: Api, path: string, target: string): Promise<ExportDocument> {
  // On the same file system, so that it can be renamed.
  const scratch = await mkdtemp(`${target}.partial-`);
  try {
    const [tar, directory] = [join(scratch, "export.tar"), join(scratch, "export")];
    await pipeline(api.download(`${path}/export`), createWriteStream(tar));
    await mkdir(directory);
    const unpacked = await unpackExport(createReadStream(tar), directory);
    if (!unpacked.ok) throw new CommandError(unpacked.problem);
    await rename(target.endsWith(".tar") ? tar : directory, target);
    return unpacked.value;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

function printExported({ variables }: ExportDocument, target: string, valuesFile: string | null): void {
  print(`Written to ${target}. Its README.md says how to run it without Towpath.`);
  if (valuesFile !== null) {
    print(
      `${yellow("!")} ${valuesFile} has the values of its variables, readable by you alone. Keep it like a password.`,
    );
  } else if (variables.length > 0) {
    print(dim(`Without the values of ${variables.map(({ keyName }) => keyName).join(", ")}.`));
  }
}
