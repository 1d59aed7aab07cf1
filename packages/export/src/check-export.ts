import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { lstat, readdir, readFile, readlink, realpath } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { pipeline } from "node:stream/promises";
import { type ExportDocument, exportDocumentSchema, exportFormat } from "@towpath/core/delivery/export/schema";
import { z } from "zod";
import { fileNames } from "./file-names.ts";
import { insideParts, leadsOut, requireInsideLink } from "./inside-path.ts";
import { notWhole, orRefusal, Refusal, shown, type Usable } from "./refusal.ts";

/**
 * Checks the directory of an export: its format, that every file is as it was written, and that no link leads out of it.
 * Files that were added since, such as those of a virtual environment, don't matter.
 */
export const checkExport = (directory: string): Promise<Usable<ExportDocument>> =>
  orRefusal(() => readChecked(directory));

/** @throws Refusal */
export async function readChecked(directory: string): Promise<ExportDocument> {
  const document = await readDocument(directory);
  await checkLinks(directory);
  await checkSums(directory, neededFiles(document));
  return document;
}

const formatSchema = z.object({ format: z.number().int() });

async function readDocument(directory: string): Promise<ExportDocument> {
  const text = await readFile(join(directory, fileNames.document), "utf8").catch(() => null);
  if (text === null) throw notWhole(`there is no ${fileNames.document}`);
  const stored = jsonOf(text);
  const { format } = formatSchema.safeParse(stored).data ?? { format: exportFormat };
  if (format > exportFormat) {
    throw new Refusal(
      `The export is of a newer release (format ${format}; this one reads ${exportFormat}). Update Towpath here, then import it.`,
    );
  }
  const parsed = exportDocumentSchema.safeParse(stored);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw notWhole(`${fileNames.document} is damaged (${issue?.path.join(".") || "JSON"}: ${issue?.message})`);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** A link may lead out by the links on its way, too. */
async function checkLinks(directory: string): Promise<void> {
  const root = await realpath(directory);
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isSymbolicLink()) continue;
    const file = join(entry.parentPath, entry.name);
    const path = relative(directory, file);
    // A virtual environment links to the machine's Python. Nothing of it is imported.
    if (path.startsWith(".venv/")) continue;
    const target = await readlink(file);
    requireInsideLink(path, target);
    const real = await realpath(file).catch(() => root);
    if (real !== root && !real.startsWith(`${root}${sep}`)) throw leadsOut(path, target);
  }
}

const neededFiles = ({ source }: ExportDocument): readonly string[] => [
  fileNames.document,
  fileNames.requirements,
  ...(source.kind === "repository" && source.hasHistory ? [fileNames.history] : []),
];

async function checkSums(directory: string, needed: readonly string[]): Promise<void> {
  const text = await readFile(join(directory, fileNames.sums), "utf8").catch(() => null);
  if (text === null) throw notWhole(`there is no ${fileNames.sums}`);
  const lines = text.split("\n").filter((line) => line !== "");
  const named = new Set<string>();
  for (const line of lines) {
    const [, sum = "", path = ""] = /^([0-9a-f]{64}) {2}(.+)$/.exec(line) ?? [];
    if (sum === "") throw notWhole(`${fileNames.sums} is damaged`);
    named.add(path);
    const file = join(directory, ...insideParts(path));
    if (!(await isFile(file))) throw notWhole(`${shown(path)} is missing`);
    if ((await digestOf(file)) !== sum) {
      throw new Refusal(
        `${shown(path)} is not as it was exported. To deploy changed code, use its directory: towpath deploy ${join(directory, fileNames.source)}`,
      );
    }
  }
  for (const path of needed) if (!named.has(path)) throw notWhole(`${fileNames.sums} doesn't name ${path}`);
}

const isFile = (file: string) =>
  lstat(file).then(
    (found) => found.isFile(),
    () => false,
  );

async function digestOf(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
}
