import { constants, open } from "node:fs/promises";
import { join, posix } from "node:path";
import { BuildFailure, changeCode, failed } from "../failure.ts";
import { digestOf, type SourceEntry } from "../fetch/source-tree.ts";
import { type BuildContext, findBuildContext } from "./build-context.ts";
import type { Texts } from "./offer.ts";
import { findOffers, maxProjects, projectDirectories } from "./offers.ts";
import { includedFiles, requirementsCandidates } from "./requirements-file.ts";

/** The input of a plan: the paths of all files, and the text of the few that affect the build. */
export type SourceFacts = {
  readonly paths: ReadonlySet<string>;
  readonly texts: ReadonlyMap<string, string>;
  /** The Python files, as far as they are text and not too large, where an entrypoint is to be found; else empty. */
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

/** Where the facts are read from. */
export type PlanSource = {
  /** Directory on the host that holds the files. */
  readonly directory: string;
  /** Paths of all entries, relative to the directory. */
  readonly paths: readonly string[];
  readonly digest: string;
  /** The repository, and the directory in it that the files are of; absent when they are all. */
  readonly within?: {
    readonly directory: string;
    readonly subPath: string;
    readonly entries: readonly SourceEntry[];
  };
};

export type PlanSettings = {
  /** `file.py` or `file.py:object`, relative to the root directory; or a program. Empty: to be found. */
  readonly entrypoint: string;
  /** Of the program. Without any, those that are found with it. */
  readonly arguments: readonly string[];
  readonly requirements: string | null;
  /** Of which the tree is a part, for messages about other directories; null: the tree is whole. */
  readonly rootDirectory: string | null;
  /** The project's package is built and installed, also where it could be imported from the repository. */
  readonly isInstalled?: boolean;
};

const maxTextBytes = 2 * 1024 * 1024;
const maxLockBytes = 16 * 1024 * 1024;
const maxTotalBytes = 24 * 1024 * 1024;
const maxIncludes = 50;
/** Limits on the Python files in which a server is looked for. */
const maxCodeFiles = 1_000;
const maxCodeBytes = 512 * 1024;
const maxCodeTotalBytes = 12 * 1024 * 1024;

/** Reads the facts from an extracted tree. @throws BuildFailure when a file is not text or too large */
export async function gatherFacts(source: PlanSource, settings: PlanSettings): Promise<SourceFacts> {
  const paths = new Set(source.paths);
  const texts = new Map<string, string>();
  let left = maxTotalBytes;
  const read = async (path: string) => {
    if (!paths.has(path) || texts.has(path)) return;
    const text = await readText(
      source.directory,
      path,
      Math.min(left, path === "uv.lock" ? maxLockBytes : maxTextBytes),
    );
    if (text === null) return;
    left -= Buffer.byteLength(text);
    texts.set(path, text);
  };
  const context = await contextOf(source, texts);
  for (const path of ["pyproject.toml", "uv.lock", ".python-version", "fastmcp.json"]) await read(path);
  for (const path of ["setup.py", "setup.cfg"]) await readIfText(read, path);
  const code = needsCode(settings.entrypoint, paths) ? await readCode(source) : new Map<string, string>();
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

/** The context with a digest of what it has apart from the project. Adds a workspace's lock to `texts`. */
async function contextOf({ within }: PlanSource, texts: Map<string, string>): Promise<SourceFacts["context"]> {
  if (within === undefined) return null;
  const paths = new Set(within.entries.map(({ path }) => path));
  const read = async (path: string) =>
    paths.has(path) ? readText(within.directory, path, path.endsWith("uv.lock") ? maxLockBytes : maxTextBytes) : null;
  const context = await findBuildContext(within.subPath, read);
  if (context === null) return null;
  if (context.isWorkspace) {
    const lock = await read(posix.join(context.root, "uv.lock"));
    if (lock !== null) texts.set("uv.lock", lock);
  }
  const isIn = (path: string, directory: string) => directory === "" || path.startsWith(`${directory}/`);
  const others = within.entries.filter(({ path }) => isIn(path, context.root) && !isIn(path, within.subPath));
  return { ...context, digest: digestOf(others) };
}

const foundBy: ReadonlySet<string> = new Set(["setup.cfg", "README.md"]);

/** Whether a server has to be found: the settings name no entrypoint, or a file that isn't there. */
function needsCode(entrypoint: string, paths: ReadonlySet<string>): boolean {
  const [file = ""] = entrypoint.split(":", 1);
  return entrypoint === "" || (file.endsWith(".py") && !paths.has(posix.normalize(file)));
}

/** What a server is found by: Python files, setuptools' own and the README, without those that are not text or too large. */
async function readCode({ directory, paths }: PlanSource): Promise<Map<string, string>> {
  const code = new Map<string, string>();
  let left = maxCodeTotalBytes;
  const likely = paths.filter((path) => path.endsWith(".py") || foundBy.has(path)).slice(0, maxCodeFiles);
  for (const path of likely) {
    const text = await readText(directory, path, Math.min(left, maxCodeBytes)).catch((error: unknown) => {
      if (error instanceof BuildFailure) return null;
      throw error;
    });
    if (text === null) continue;
    left -= Buffer.byteLength(text);
    code.set(path, text);
  }
  return code;
}

/** For files that only matter where nothing else says the same. */
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
async function readText(directory: string, path: string, maxFileBytes: number): Promise<string | null> {
  const file = await open(join(directory, path), constants.O_RDONLY | constants.O_NOFOLLOW).catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ELOOP") return null;
    throw error;
  });
  if (file === null) return null;
  try {
    const { size } = await file.stat();
    if (size > maxFileBytes) throw tooLarge(path, size);
    return new TextDecoder("utf-8", { fatal: true }).decode(await file.readFile());
  } catch (error) {
    if (error instanceof TypeError) throw notText(path);
    throw error;
  } finally {
    await file.close();
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
