import { createReadStream } from "node:fs";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { ExportDocument } from "@towpath/core/delivery/export/schema";
import { checkExport, unpackExport, variablesFileOf } from "@towpath/export";
import { z } from "zod";
import { CommandError, UsageError } from "../terminal/terminal.ts";

/** An export whose files were checked. */
export type GivenExport = {
  readonly document: ExportDocument;
  /** Of its files, unpacked. */
  readonly directory: string;
  /** Values of variables, by name; empty if none came with it. */
  readonly values: Readonly<Record<string, string>>;
};

/**
 * Passes a directory or tar to `use` once it was checked; a tar is unpacked for that time.
 *
 * @throws CommandError for what is no whole export
 */
export async function withExport<Result>(
  given: string,
  use: (opened: GivenExport) => Promise<Result>,
): Promise<Result> {
  const path = resolve(given);
  const found = await stat(path).catch(() => null);
  if (found === null) throw new UsageError(`There is no ${path}.`);
  const values = await readValues(variablesFileOf(path));
  if (found.isDirectory()) {
    const checked = await checkExport(path);
    if (!checked.ok) throw new CommandError(checked.problem);
    return use({ document: checked.value, directory: path, values });
  }
  const directory = await mkdtemp(join(tmpdir(), "towpath-import-"));
  try {
    const unpacked = await unpackExport(createReadStream(path), directory);
    if (!unpacked.ok) throw new CommandError(unpacked.problem);
    return await use({ document: unpacked.value, directory, values });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function readValues(file: string): Promise<Readonly<Record<string, string>>> {
  const text = await readFile(file, "utf8").catch(() => null);
  if (text === null) return {};
  try {
    return z.record(z.string(), z.string()).parse(JSON.parse(text));
  } catch {
    throw new CommandError(`${file} is damaged: it must be a JSON object with a text for each variable.`);
  }
}
