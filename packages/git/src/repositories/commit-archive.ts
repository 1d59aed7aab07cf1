import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Writable } from "node:stream";
import type { CommitFiles, InstanceRepositories } from "@towpath/core/ports";
import {
  gitignoreRule,
  isGitignore,
  leftOutName,
  maxGitignoreBytes,
  maxGitignoreBytesTogether,
} from "@towpath/core/sources/repository/left-out/schema";
import { branchNameSchema } from "@towpath/core/sources/source/schema";
import { commitLines, data, fastImport, quotedPath, write } from "../fast-import.ts";
import { readCommit } from "../read-commit.ts";
import { pipeToGit } from "../run-git.ts";
import { archiveEntries, storeArchive } from "./archive-entries.ts";
import { type ArchiveEntry, type ArchiveLimits, unusable } from "./archive-entry.ts";
import { gitOn, ownRefs, runOn } from "./bare-repository.ts";
import { headOf, moveBranch, movedOn } from "./branch-head.ts";
import { checkLink, entryPath, withoutCommonDirectory } from "./entry-path.ts";

/** A file of the commit: `mark` names its content in the stream of `git fast-import`. */
type File = { readonly mode: "100644" | "100755" | "120000"; readonly mark: number };

const maxMs = 5 * 60_000;

/**
 * Commits the files of an archive: see `InstanceRepositories.commitFiles`. The archive never chooses a path to write
 * to: contents become git's objects, and names its trees.
 */
export async function commitArchive(
  directory: string,
  files: CommitFiles,
  limits: ArchiveLimits,
  signal?: AbortSignal,
): ReturnType<InstanceRepositories["commitFiles"]> {
  const branch = `refs/heads/${branchNameSchema.parse(files.branch)}`;
  const before = await headOf(directory, branch);
  if (files.expectedHead !== undefined && files.expectedHead !== before) throw movedOn(files.branch, before);
  const scratch = await mkdtemp(join(tmpdir(), "towpath-archive-"));
  const own = `${ownRefs}/${randomUUID()}`;
  const within = AbortSignal.any([AbortSignal.timeout(maxMs), ...(signal ? [signal] : [])]);
  try {
    const archive = join(scratch, "archive");
    await storeArchive(files.archive, archive, limits, within);
    const why = await leftOutReasons(archiveEntries(archive, limits));
    const skipped = new Set<string>();
    let leftOut: readonly string[] = [];
    await pipeToGit(fastImport, runOn(directory, { signal: within, timeoutMs: maxMs }), async (stream) => {
      const found = await writeBlobs(archiveEntries(archive, limits), limits, stream, (path) => {
        const name = why(path);
        if (name !== null) skipped.add(name);
        return name !== null;
      });
      leftOut = withoutPrefix(skipped, found);
      await writeCommit(stream, { ...files, ref: own, parent: before, found });
    });
    const run = runOn(directory);
    const made = await headOf(directory, own);
    if (made === null) throw new Error("git fast-import made no commit");
    if (before !== null && (await treeOf(directory, made)) === (await treeOf(directory, before))) {
      return { commit: await readCommit(before, run), changed: false, leftOut };
    }
    await moveBranch(directory, { branch, name: files.branch, before, made });
    return { commit: await readCommit(made, run), changed: true, leftOut };
  } finally {
    await gitOn(directory, ["update-ref", "-d", own]).catch(() => {});
    await rm(scratch, { recursive: true, force: true });
  }
}

const treeOf = async (directory: string, sha: string) =>
  (await gitOn(directory, ["rev-parse", "--verify", `${sha}^{tree}`])).trim();

/** The reason, for people, why a path of the archive is left out of the commit (SRC-4); null for one that isn't. */
async function leftOutReasons(entries: AsyncIterable<ArchiveEntry>): Promise<(path: string) => string | null> {
  const texts = new Map<string, string>();
  let bytes = 0;
  for await (const { name, kind, size, content } of entries) {
    const path = entryPath(name)?.join("/");
    if (path === undefined || kind !== "file" || !isGitignore(path) || size > maxGitignoreBytes) continue;
    bytes += size;
    if (bytes > maxGitignoreBytesTogether)
      throw unusable(`The archive's .gitignore files have more than ${maxGitignoreBytesTogether / 1e6} MB together.`);
    const chunks: Uint8Array[] = [];
    for await (const chunk of content) chunks.push(chunk);
    texts.set(path, Buffer.concat(chunks).toString("utf8"));
  }
  const ignored = gitignoreRule(texts);
  return (path) => leftOutName(path) ?? ignored(path);
}

/** Names as in the commit, without the archive's top-level directory. */
function withoutPrefix(names: ReadonlySet<string>, found: ReadonlyMap<string, File>): readonly string[] {
  const [first = ""] = found.keys();
  const [inCommit = ""] = withoutCommonDirectory(found).keys();
  const prefix = first.slice(0, first.length - inCommit.length);
  return [...names].map((name) => (name.startsWith(prefix) ? name.slice(prefix.length) : name));
}

/** Contents of all files by path. The later of two entries of a path counts, as in tar. */
async function writeBlobs(
  entries: AsyncIterable<ArchiveEntry>,
  limits: ArchiveLimits,
  stream: Writable,
  isLeftOut: (path: string) => boolean,
): Promise<ReadonlyMap<string, File>> {
  const files = new Map<string, File>();
  let [seen, mark] = [0, 0];
  for await (const entry of entries) {
    seen += 1;
    if (seen > limits.files) throw unusable(`The archive has more than ${limits.files} entries, the limit here.`);
    const parts = entryPath(entry.name);
    if (parts === null || entry.kind === "directory") continue;
    const path = parts.join("/");
    if (isLeftOut(path)) continue;
    if (entry.kind === "other") {
      throw unusable(`${JSON.stringify(path.slice(0, 200))} is neither a file, a directory nor a symbolic link.`);
    }
    if (entry.kind === "same-file") {
      const same = files.get(entryPath(entry.target)?.join("/") ?? "");
      if (!same) throw unusable(`${JSON.stringify(path.slice(0, 200))} is a link to a file that isn't in the archive.`);
      files.set(path, same);
      continue;
    }
    mark += 1;
    if (entry.kind === "link") {
      checkLink(parts, entry.target);
      await write(stream, `blob\nmark :${mark}\n${data(entry.target)}`);
      files.set(path, { mode: "120000", mark });
      continue;
    }
    await write(stream, `blob\nmark :${mark}\ndata ${entry.size}\n`);
    for await (const chunk of entry.content) await write(stream, chunk);
    await write(stream, "\n");
    files.set(path, { mode: entry.isExecutable ? "100755" : "100644", mark });
  }
  if (files.size === 0) throw unusable("The archive has no files.");
  return files;
}

async function writeCommit(
  stream: Writable,
  commit: Pick<CommitFiles, "author" | "message"> & {
    readonly ref: string;
    readonly parent: string | null;
    readonly found: ReadonlyMap<string, File>;
  },
): Promise<void> {
  const { author, message, ref, parent, found } = commit;
  await write(stream, commitLines({ ref, parent, author, message }));
  await write(stream, "deleteall\n");
  for (const [path, { mode, mark }] of withoutCommonDirectory(found)) {
    await write(stream, `M ${mode} :${mark} ${quotedPath(path)}\n`);
  }
  await write(stream, "\ndone\n");
}
