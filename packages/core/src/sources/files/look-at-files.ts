import { authorizeProject, type ProjectScope } from "../../authorize/index.ts";
import type { Call, Context } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { parseInput } from "../../input/index.ts";
import type { GitCommitRef, OpenedFiles } from "../../ports/index.ts";
import { type FileServices, sourceRepository } from "./edited-repository.ts";
import {
  type FilesView,
  type FileView,
  type FoundLines,
  listFilesSchema,
  readFileSchema,
  searchFilesSchema,
} from "./files.schema.ts";

const maxBranches = 1000;
const maxFound = 200;

/**
 * Files of a branch's head, for who may push (CAP-5).
 *
 * @throws TowpathError `not_found` for a branch that isn't there, `conflict` for a server of a package, errors of the host
 */
export async function listFiles(
  call: Call<ProjectScope & { readonly branch?: string | undefined }, FileServices>,
): Promise<FilesView> {
  const { ctx } = call;
  const { project: of } = await authorizeProject(ctx, "build.start", call.input);
  const input = parseInput(listFilesSchema, call.input);
  const { kind, name, reader, named, files } = await sourceRepository(ctx, of);
  const { branches, defaultBranch } = await reader.refs();
  const live = named ?? defaultBranch;
  const branch = input.branch ?? live;
  const sha = branch === null ? undefined : branches.get(branch);
  if (branch === null || sha === undefined) throw noBranch(name, branch);
  const opened = await ctx.gitFiles.open(await files(), { branch, sha });
  try {
    const { commit } = opened;
    return {
      kind,
      name,
      branch,
      branches: [...branches.keys()].toSorted().slice(0, maxBranches),
      isLive: branch === live,
      commit: { sha: commit.sha, message: commit.message, author: commit.author ?? null },
      paths: [...(await opened.paths())],
    };
  } finally {
    await opened.close();
  }
}

function noBranch(name: string, branch: string | null): TowpathError {
  if (branch === null) return new TowpathError("not_found", `${name} has no commits yet. Push one first.`);
  return new TowpathError(
    "not_found",
    `${name} has no branch ${branch}. It may have been deleted: choose another one.`,
  );
}

/** @throws TowpathError `not_found` for a commit that the repository no longer has, errors of the host */
export async function readFile(
  call: Call<ProjectScope & GitCommitRef & { readonly path: string }, FileServices>,
): Promise<FileView> {
  const { path, ...at } = parseInput(readFileSchema, call.input);
  return withFiles(call, at, async (opened) => {
    const bytes = await opened.read(path);
    if (bytes === null) return { kind: "unreadable", text: null, bytes: null };
    const text = textOf(bytes);
    return { kind: text === null ? "binary" : "text", text, bytes: bytes.length };
  });
}

/** The same errors. */
export async function searchFiles(
  call: Call<ProjectScope & GitCommitRef & { readonly text: string }, FileServices>,
): Promise<FoundLines> {
  const { text, ...at } = parseInput(searchFilesSchema, call.input);
  return withFiles(call, at, async (opened) => {
    const lines = await opened.search(text, maxFound + 1);
    return { lines: lines.slice(0, maxFound), isComplete: lines.length <= maxFound };
  });
}

async function withFiles<Result>(
  { ctx, input }: { readonly ctx: Context<FileServices>; readonly input: ProjectScope },
  at: GitCommitRef,
  work: (opened: OpenedFiles) => Promise<Result>,
): Promise<Result> {
  const { project: of } = await authorizeProject(ctx, "build.start", input);
  const { files } = await sourceRepository(ctx, of);
  const opened = await ctx.gitFiles.open(await files(), at);
  try {
    return await work(opened);
  } finally {
    await opened.close();
  }
}

/** Null for what is no text in UTF-8. */
function textOf(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
