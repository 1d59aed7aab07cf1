import { posix } from "node:path";
import { BuildFailure, changeCode, failed } from "../failure.ts";
import { digestOf, type SourceEntry, type SourceTree } from "../fetch/source-tree.ts";
import { type BuildContext, findBuildContext } from "./build-context.ts";
import { findOffers, maxProjects, projectDirectories } from "./find-offers.ts";
import type { Texts } from "./offer.ts";
import { includedFiles, requirementsCandidates } from "./requirements-file.ts";

/** The input of a plan: the paths of all files, and the text of the few that affect the build. */
export type SourceFacts = {
  readonly paths: ReadonlySet<string>;
  readonly texts: ReadonlyMap<string, string>;
  /** The Python files that are text and not too large, if an entrypoint must be found; else empty. */
  readonly code: ReadonlyMap<string, string>;
  /** Digest of the whole tree. */
  readonly digest: string;
  /** Null: the installation needs no other part of the repository. */
  readonly context: (BuildContext & { readonly digest: string }) | null;
};

/** The texts of the files that affect the build, and of those in which a server is looked for. */
export const textsOf = ({ texts, code }: Pick<SourceFacts, "texts" | "code">): Texts => ({
  get: (path) => texts.get(path) ?? code.get(path),
});

/** The source of the facts. */
export type PlanSource = Pick<SourceTree, "subPath" | "entries" | "digest"> & {
  /** The entire repository; absent if `entries` are. */
  readonly whole?: readonly SourceEntry[];
};

/** Reads a file of the repository, whose path is relative to its root. */
export type ReadSource = (path: string, maxBytes: number) => Promise<Uint8Array>;

export type PlanSettings = {
  /** `file.py` or `file.py:object`, relative to the root directory; or a program. Empty: to be found. */
  readonly entrypoint: string;
  /** Of the program. Empty: those that are found with it. */
  readonly arguments: readonly string[];
  readonly requirements: string | null;
  /** The root directory of the tree, for messages about other directories; null: the whole source. */
  readonly rootDirectory: string | null;
  /** The project's package is built and installed, even if it could be imported from the repository. */
  readonly isInstalled?: boolean;
};

const maxTextBytes = 2 * 1024 * 1024;
const maxLockBytes = 16 * 1024 * 1024;
const maxTotalBytes = 24 * 1024 * 1024;
const maxIncludes = 50;
/** Limits on the Python files that are searched for a server. */
const maxCodeFiles = 1_000;
const maxCodeBytes = 512 * 1024;
const maxCodeTotalBytes = 12 * 1024 * 1024;

/** Reads the facts of a source. @throws BuildFailure when a file is not text or too large */
export async function gatherFacts(
  source: PlanSource,
  settings: PlanSettings,
  readSource: ReadSource,
): Promise<SourceFacts> {
  const entries = new Map(source.entries.map((entry) => [entry.path, entry]));
  const paths = new Set(entries.keys());
  const readOwn: ReadSource = (path, maxBytes) => readSource(posix.join(source.subPath, path), maxBytes);
  const texts = new Map<string, string>();
  let left = maxTotalBytes;
  const read = async (path: string) => {
    const entry = entries.get(path);
    if (entry === undefined || texts.has(path)) return;
    const text = await readText(entry, Math.min(left, path === "uv.lock" ? maxLockBytes : maxTextBytes), readOwn);
    if (text === null) return;
    left -= Buffer.byteLength(text);
    texts.set(path, text);
  };
  const context = await contextOf(source, texts, readSource);
  for (const path of ["pyproject.toml", "uv.lock", ".python-version", "fastmcp.json"]) await read(path);
  for (const path of ["setup.py", "setup.cfg"]) await readIfText(read, path);
  const code = needsCode(settings.entrypoint, paths)
    ? await readCode(source.entries, readOwn)
    : new Map<string, string>();
  const [named = ""] = settings.entrypoint.split(":");
  const entryFile = settings.entrypoint === "" ? (findOffers(paths, textsOf({ texts, code }))[0]?.file ?? "") : named;
  if (settings.entrypoint === "") {
    for (const directory of projectDirectories(paths).slice(0, maxProjects)) {
      for (const name of ["pyproject.toml", "fastmcp.json"]) await read(`${directory}/${name}`);
    }
  }
  for (const path of [entryFile, ...requirementsCandidates(settings, entryFile, texts)]) await read(path);
  await readIncluded(texts, read);
  return { paths, texts, code, digest: source.digest, context };
}

/** The context with a digest of its other parts. Adds a workspace's lock to `texts`. */
async function contextOf(
  { subPath, whole }: PlanSource,
  texts: Map<string, string>,
  readSource: ReadSource,
): Promise<SourceFacts["context"]> {
  if (whole === undefined) return null;
  const entries = new Map(whole.map((entry) => [entry.path, entry]));
  const read = async (path: string) => {
    const entry = entries.get(path);
    const maxBytes = path.endsWith("uv.lock") ? maxLockBytes : maxTextBytes;
    return entry === undefined ? null : readText(entry, maxBytes, readSource);
  };
  const context = await findBuildContext(subPath, read);
  if (context === null) return null;
  if (context.isWorkspace) {
    const lock = await read(posix.join(context.root, "uv.lock"));
    if (lock !== null) texts.set("uv.lock", lock);
  }
  const isIn = (path: string, directory: string) => directory === "" || path.startsWith(`${directory}/`);
  const others = whole.filter(({ path }) => isIn(path, context.root) && !isIn(path, subPath));
  return { ...context, digest: digestOf(others) };
}

const foundBy: ReadonlySet<string> = new Set(["setup.cfg", "README.md"]);

/** Whether a server must be found: the settings name no entrypoint, or a missing file. */
function needsCode(entrypoint: string, paths: ReadonlySet<string>): boolean {
  const [file = ""] = entrypoint.split(":", 1);
  return entrypoint === "" || (file.endsWith(".py") && !paths.has(posix.normalize(file)));
}

/** Files for finding a server: Python files, setuptools' own and the README, if they are text and not too large. */
async function readCode(entries: readonly SourceEntry[], read: ReadSource): Promise<Map<string, string>> {
  const code = new Map<string, string>();
  let left = maxCodeTotalBytes;
  const likely = entries.filter(({ path }) => path.endsWith(".py") || foundBy.has(path)).slice(0, maxCodeFiles);
  for (const entry of likely) {
    const text = await readText(entry, Math.min(left, maxCodeBytes), read).catch((error: unknown) => {
      if (error instanceof BuildFailure) return null;
      throw error;
    });
    if (text === null) continue;
    left -= Buffer.byteLength(text);
    code.set(entry.path, text);
  }
  return code;
}

/** For files that matter only if nothing else has the information. */
async function readIfText(read: (path: string) => Promise<void>, path: string): Promise<void> {
  await read(path).catch((error: unknown) => {
    if (!(error instanceof BuildFailure)) throw error;
  });
}

async function readIncluded(texts: Map<string, string>, read: (path: string) => Promise<void>): Promise<void> {
  const todo = [...texts.keys()].filter((path) => path.endsWith(".txt") || path.endsWith(".in"));
  const seen = new Set(todo);
  for (let path = todo.pop(); path !== undefined && seen.size < maxIncludes; path = todo.pop()) {
    for (const included of includedFiles(texts.get(path) ?? "", path)) {
      if (seen.has(included)) continue;
      seen.add(included);
      todo.push(included);
      await read(included);
    }
  }
}

/** Null for a link: uv follows it inside the sandbox. */
async function readText(entry: SourceEntry, maxFileBytes: number, read: ReadSource): Promise<string | null> {
  if (entry.kind === "link") return null;
  if (entry.bytes > maxFileBytes) throw tooLarge(entry.path, entry.bytes);
  const bytes = await read(entry.path, maxFileBytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) throw notText(entry.path);
    throw error;
  }
}

const unreadable = (path: string, detail: string, remedy: string) =>
  failed("plan", "invalid_project_file", changeCode, { title: `${path} can't be read`, detail, remedy, file: path });

const notText = (path: string) =>
  unreadable(path, "It is not UTF-8 text.", `Save ${path} as UTF-8 text and push again.`);

const tooLarge = (path: string, size: number) =>
  unreadable(
    path,
    `It has ${size} bytes. The limit is ${maxTextBytes} bytes for a file, ${maxLockBytes} for uv.lock, and ${maxTotalBytes} for all project files together.`,
    `Make ${path} smaller: move data to a separate file that the server reads at run time.`,
  );
