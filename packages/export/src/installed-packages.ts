import { z } from "zod";
import { bytesOf, layerEntries, type TarEntry } from "./layer-entries.ts";

/** What a dependency layer has installed. */
export type InstalledPackages = {
  /** Lines of a requirements file, such as `fastmcp==3.1.0`, sorted. */
  readonly requirements: readonly string[];
  /** Whether a path below `site-packages` was made of the server's own files, which no index has. */
  readonly isOwn: (path: string) => boolean;
  readonly hasOwn: boolean;
};

const maxFileBytes = 16 * 1024 * 1024;
const inSite = /^lib\/python[^/]+\/site-packages\/(.+)$/;
const textOf = async (content: AsyncIterable<Uint8Array>) => (await bytesOf(content, maxFileBytes)).toString("utf8");

/** The directories that a build adds to the import path: layer.py of the runtime package. */
const importRoots = "_towpath_project.pth";
/** The code's path for builds and servers, and as seen from the directory of what was installed. */
const [codePath, exportedCode] = ["/app/src", "../source"];

/** Each entry's path below `site-packages`. */
async function* siteEntries(layer: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry> {
  for await (const entry of layerEntries(layer)) {
    const path = inSite.exec(entry.path)?.[1];
    if (path !== undefined) yield { ...entry, path };
  }
}

/** Reads which packages a dependency layer has, by their metadata (PEP 376, PEP 610). */
export async function readInstalled(layer: AsyncIterable<Uint8Array>): Promise<InstalledPackages> {
  const found = new Map<string, Record<string, string>>();
  let hasRoots = false;
  for await (const { path, content } of siteEntries(layer)) {
    const [, directory = "", file = ""] =
      /^([^/]+\.dist-info)\/(METADATA|direct_url\.json|INSTALLER|RECORD)$/.exec(path) ?? [];
    if (directory !== "") found.set(directory, { ...found.get(directory), [file]: await textOf(content) });
    hasRoots ||= path === importRoots;
  }
  const packages = [...found].map(([directory, files]) => ({ directory, ...packageOf(files) }));
  const own = packages.filter(({ requirement }) => requirement === null);
  const directories = own.map(({ directory }) => `${directory}/`);
  const paths = new Set(own.flatMap(({ recorded }) => recorded));
  return {
    requirements: packages.flatMap(({ requirement }) => requirement ?? []).toSorted(),
    isOwn: (path) => path === importRoots || paths.has(path) || directories.some((each) => path.startsWith(each)),
    hasOwn: hasRoots || own.length > 0,
  };
}

/** The files of a dependency layer that are the server's own, for the directory `installed`. */
export async function* ownEntries(
  layer: AsyncIterable<Uint8Array>,
  { isOwn }: InstalledPackages,
): AsyncGenerator<TarEntry | { readonly path: string; readonly text: string }> {
  for await (const entry of siteEntries(layer)) {
    if (!isOwn(entry.path) || entry.header.type !== "file" || entry.path.includes("__pycache__/")) continue;
    if (entry.path !== importRoots) yield entry;
    else {
      const text = await textOf(entry.content);
      yield { path: importRoots, text: text.replaceAll(codePath, exportedCode) };
    }
  }
}

const directUrlSchema = z.object({
  url: z.string(),
  subdirectory: z.string().optional(),
  vcs_info: z.object({ vcs: z.string(), commit_id: z.string() }).optional(),
});

/** `requirement`: null for what was made of the server's own files. `recorded`: the package's files. */
function packageOf(files: Readonly<Record<string, string>>) {
  const { METADATA = "", INSTALLER = "", RECORD = "" } = files;
  const headers = METADATA.slice(0, 4096);
  const name = /^Name: ([^\r\n]+)/m.exec(headers)?.[1] ?? "";
  const version = /^Version: ([^\r\n]+)/m.exec(headers)?.[1] ?? "";
  const stored = files["direct_url.json"];
  const direct = stored === undefined ? null : directUrlSchema.parse(JSON.parse(stored));
  const isOwn = INSTALLER.trim() === "towpath" || direct?.url.startsWith("file:") === true;
  const requirement = direct === null ? `${name}==${version}` : `${name} @ ${directReference(direct)}`;
  return { requirement: isOwn ? null : requirement, recorded: isOwn ? recordedPaths(RECORD) : [] };
}

/** As in a requirement (PEP 508). */
function directReference({ url, subdirectory, vcs_info: vcs }: z.output<typeof directUrlSchema>): string {
  const part = subdirectory === undefined ? "" : `#subdirectory=${subdirectory}`;
  return vcs === undefined ? `${url}${part}` : `${vcs.vcs}+${url}@${vcs.commit_id}${part}`;
}

/** Lines are `path,digest,size`; scripts outside of `site-packages` are left out. */
const recordedPaths = (record: string): string[] =>
  record.split(/\r?\n/).flatMap((line) => {
    const path = line.slice(0, line.lastIndexOf(",", line.lastIndexOf(",") - 1));
    return path === "" || path.startsWith("..") || path.startsWith("/") ? [] : [path];
  });
