import type { ServerExport } from "@towpath/core/delivery/export";
import type { SizedBytes } from "@towpath/core/ports";
import { ExportTar } from "./export-tar.ts";
import { fileNames } from "./file-names.ts";
import { indexOptions, mayNameIndexes } from "./index-options.ts";
import { type InstalledPackages, ownEntries, readInstalled } from "./installed-packages.ts";
import { bytesOf, layerEntries } from "./layer-entries.ts";
import { dockerfile, dockerignore, readme, requirementsText } from "./texts.ts";

export type ExportParts = Pick<ServerExport, "document" | "surface" | "layers"> & {
  /** Opens a layer of the artifact store. */
  readonly openLayer: (digest: string) => Promise<AsyncIterable<Uint8Array>>;
  /** Of a repository of the instance; null: none. */
  readonly history: SizedBytes | null;
  /** The files of the directory `runner`, by their paths in it. */
  readonly runner: ReadonlyMap<string, string>;
  /** Called with what breaks it off. */
  readonly onProblem: (error: Error) => void;
};

/**
 * An export as a tar (OPS-8), written as it is read. If something fails midway, the stream ends with that error: an archive
 * without its digests at the end is not whole.
 */
export function writeExport(parts: ExportParts): AsyncIterable<Uint8Array> {
  const { document } = parts;
  const tar = new ExportTar(document.name, new Date(document.exportedAt));
  tar.stream.on("error", parts.onProblem);
  write(parts, tar).catch((error: unknown) => {
    tar.stream.destroy(error instanceof Error ? error : new Error(String(error)));
    parts.history?.bytes.destroy();
  });
  return tar.stream as AsyncIterable<Uint8Array>;
}

async function write({ document, surface, layers, openLayer, history, runner }: ExportParts, tar: ExportTar) {
  const installed = await readInstalled(await openLayer(layers.dependencies));
  // First: who reads it knows at once whether it can be used.
  await tar.text(fileNames.document, json(document));
  await tar.text(fileNames.surface, json(surface));
  const named = await writeSource(await openLayer(layers.code), tar);
  if (installed.hasOwn) await writeInstalled(await openLayer(layers.dependencies), installed, tar);
  for (const [path, text] of runner) await tar.text(`${fileNames.runner}/${path}`, text);
  const indexes = indexOptions(named);
  const { requirements } = installed;
  await tar.text(fileNames.requirements, requirementsText(requirements, indexes));
  const facts = { document, surface, requirements, hasIndexes: indexes.length > 0, hasHistory: history !== null };
  await tar.text(fileNames.dockerfile, dockerfile(facts));
  await tar.text(fileNames.dockerignore, dockerignore);
  await tar.text(fileNames.readme, readme(facts));
  if (history !== null) await tar.file(fileNames.history, { size: history.size, content: history.bytes });
  await tar.end();
}

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

const maxNamingBytes = 16 * 1024 * 1024;

/** Without bytecode, which is for the code's path in a sandbox. Returns the files that may name package indexes. */
async function writeSource(layer: AsyncIterable<Uint8Array>, tar: ExportTar): Promise<ReadonlyMap<string, string>> {
  const named = new Map<string, string>();
  for await (const { path, header, content } of layerEntries(layer)) {
    const name = path === "" ? fileNames.source : `${fileNames.source}/${path}`;
    const { type, size = 0, mode = 0, linkname } = header;
    if (/(?:^|\/)__pycache__(?:\/|$)/.test(path)) continue;
    if (type === "directory") tar.directory(name);
    else if (type === "symlink") tar.link(name, linkname ?? "");
    else if (mayNameIndexes(path) && size <= maxNamingBytes) {
      const bytes = await bytesOf(content, maxNamingBytes);
      named.set(path, bytes.toString("utf8"));
      await tar.file(name, { size, content: [bytes] });
    } else await tar.file(name, { size, content, isExecutable: (mode & 0o100) !== 0 });
  }
  return named;
}

async function writeInstalled(layer: AsyncIterable<Uint8Array>, installed: InstalledPackages, tar: ExportTar) {
  for await (const entry of ownEntries(layer, installed)) {
    const name = `${fileNames.installed}/${entry.path}`;
    if ("text" in entry) await tar.text(name, entry.text);
    else await tar.file(name, { size: entry.header.size ?? 0, content: entry.content });
  }
}
