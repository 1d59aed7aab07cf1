import { constants, open } from "node:fs/promises";
import { join, posix } from "node:path";
import { BuildFailure, diagnosis } from "../failure.ts";
import type { SourceTree } from "../fetch/index.ts";
import { includedFiles } from "./requirements-file.ts";

/** All that a plan is made from: which files there are, and the text of the few that speak of the build. */
export type SourceFacts = {
  readonly paths: ReadonlySet<string>;
  readonly texts: ReadonlyMap<string, string>;
  /** Digest of the whole tree, for what depends on all of it. */
  readonly digest: string;
};

export type PlanSettings = {
  /** `file.py` or `file.py:object`, relative to the root directory. */
  readonly entrypoint: string;
  readonly requirements: string | null;
};

const largestText = 2 * 1024 * 1024;
const largestLock = 32 * 1024 * 1024;
const mostIncludes = 50;

/** Reads the facts from an extracted tree. @throws BuildFailure when a file that counts is not text. */
export async function gatherFacts(tree: SourceTree, settings: PlanSettings): Promise<SourceFacts> {
  const paths = new Set(tree.entries.map((entry) => entry.path));
  const texts = new Map<string, string>();
  const read = async (path: string) => {
    if (!paths.has(path) || texts.has(path)) return;
    const text = await readText(tree.folder, path);
    if (text !== null) texts.set(path, text);
  };
  for (const path of ["pyproject.toml", "uv.lock", ".python-version", "fastmcp.json"]) await read(path);
  const [entryFile = ""] = settings.entrypoint.split(":");
  for (const path of [entryFile, ...requirementsCandidates(settings, texts)]) await read(path);
  await readIncluded(texts, read);
  return { paths, texts, digest: tree.digest };
}

/** Where a requirements file is looked for: settings, fastmcp.json, the root, beside the entrypoint. */
export function requirementsCandidates(settings: PlanSettings, texts: ReadonlyMap<string, string>): string[] {
  const [entryFile = ""] = settings.entrypoint.split(":");
  const beside = posix.join(posix.dirname(entryFile), "requirements.txt");
  const named = settings.requirements ?? fastmcpRequirements(texts.get("fastmcp.json"));
  return [...new Set([...(named === null ? [] : [posix.normalize(named)]), "requirements.txt", beside])];
}

function fastmcpRequirements(text: string | undefined): string | null {
  const found = /"requirements"\s*:\s*"([^"]+)"/.exec(text ?? "");
  return found?.[1] ?? null;
}

async function readIncluded(texts: Map<string, string>, read: (path: string) => Promise<void>): Promise<void> {
  const todo = [...texts.keys()].filter((path) => path.endsWith(".txt") || path.endsWith(".in"));
  const seen = new Set(todo);
  for (let path = todo.pop(); path !== undefined && seen.size < mostIncludes; path = todo.pop()) {
    for (const included of includedFiles(texts.get(path) ?? "", path)) {
      if (seen.has(included)) continue;
      seen.add(included);
      todo.push(included);
      await read(included);
    }
  }
}

/** Null when it is a link (it is left to the tools inside the sandbox) or a folder. */
async function readText(folder: string, path: string): Promise<string | null> {
  const limit = path.endsWith("uv.lock") ? largestLock : largestText;
  const file = await open(join(folder, path), constants.O_RDONLY | constants.O_NOFOLLOW).catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ELOOP") return null;
    throw error;
  });
  if (file === null) return null;
  try {
    const { size } = await file.stat();
    if (size > limit) throw badText(path, `It has ${size} bytes; at most ${limit} are read.`);
    return new TextDecoder("utf-8", { fatal: true }).decode(await file.readFile());
  } catch (error) {
    if (error instanceof TypeError) throw badText(path, "It is not UTF-8 text.");
    throw error;
  } finally {
    await file.close();
  }
}

const badText = (path: string, detail: string) =>
  new BuildFailure(
    diagnosis(
      {
        code: "invalid_project_file",
        phase: "plan",
        title: `${path} cannot be read`,
        detail,
        remedy: `Save ${path} as UTF-8 text and push again.`,
      },
      { file: path },
    ),
  );
