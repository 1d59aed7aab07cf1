import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { TowpathError } from "@towpath/core/errors";
import { type CheckedFetch, createCheckedFetch } from "@towpath/egress";
import type { Connection } from "../connection.ts";
import { isFile, readBlobs, sizesOf, type TreeEntry } from "../objects.ts";
import { printable, publicProblem, tooLarge, unavailable } from "../problems.ts";
import { gitText, runGit } from "../run-git.ts";
import type { Scratch } from "../scratch.ts";
import type { ArchiveOptions } from "./archive.ts";
import { type Download, downloadsOf, followRedirects } from "./lfs-api.ts";

/** `oid`: SHA-256 of the content. `blob`: of the pointer in the commit. */
export type LfsFile = { readonly oid: string; readonly size: number; readonly blob: string; readonly path: string };

const pointer =
  /^version https:\/\/git-lfs\.github\.com\/spec\/v1\n(?:ext-[^\n]*\n)*oid sha256:([0-9a-f]{64})\nsize (\d{1,15})\n$/;
const maxPointerBytes = 1024;
const maxLfsFiles = 1000;
const maxListed = 20;

/** Replaces Git LFS pointers in a commit by their files, or names those that can't be fetched. */
export async function includeLfsFiles(
  entries: readonly TreeEntry[],
  prefix: string,
  scratch: Scratch,
  connection: Connection,
  options: ArchiveOptions,
): Promise<void> {
  const files = await pointersOf(entries, scratch, options.signal);
  if (files.length === 0) return;
  const missing = (which: readonly LfsFile[], reason: string) => {
    const paths = which.slice(0, maxListed).map(({ path }) => printable(`${prefix}${path}`));
    const more = which.length > maxListed ? ` and ${which.length - maxListed} more` : "";
    const title = which.length === 1 ? "A file of Git LFS is missing" : `${which.length} files of Git LFS are missing`;
    options.warn({ title, detail: `${reason} Only the pointer is there for ${paths.join(", ")}${more}.` });
  };
  if (connection.endpoint.protocol === "ssh")
    return missing(files, "They are not fetched with a deploy key: use the repository's https URL and a token.");
  if (files.length > maxLfsFiles) return missing(files, `There are more than ${maxLfsFiles}.`);
  if (files.reduce((sum, { size }) => sum + size, 0) > scratch.maxBytes) throw tooLarge(scratch.maxBytes);
  const checked = createCheckedFetch(options.connection.policy, options.connection.resolve, { returnsRedirects: true });
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(options.timeoutMs)]);
  try {
    const absent = new Map<string, LfsFile[]>();
    for (const { file, download } of await downloadsOf(files, connection, checked, signal)) {
      const reason = typeof download === "string" ? download : await replace(file, download, scratch, checked, signal);
      if (reason !== null) absent.set(reason, [...(absent.get(reason) ?? []), file]);
    }
    for (const [reason, which] of absent) missing(which, reason);
  } catch (error) {
    options.signal.throwIfAborted();
    const problem = signal.aborted
      ? unavailable("They did not arrive in time.")
      : publicProblem(error, connection.endpoint.host);
    if (!(problem instanceof TowpathError)) throw problem;
    missing(files, problem.message);
  } finally {
    await checked.close();
  }
}

/** Pointers of Git LFS among these files, if the repository uses it. */
export async function pointersOf(
  entries: readonly TreeEntry[],
  scratch: Scratch,
  signal: AbortSignal,
): Promise<readonly LfsFile[]> {
  const run = { scratch, signal };
  const files = entries.filter(isFile);
  const attributes = files.filter(({ path }) => path === ".gitattributes" || path.endsWith("/.gitattributes"));
  if (attributes.length === 0) return [];
  const sizes = await sizesOf(
    files.map(({ oid }) => oid),
    run,
  );
  const small = (max: number) => (entry: TreeEntry) => (sizes.get(entry.oid) ?? max + 1) <= max;
  const rules = await readBlobs(
    attributes
      .filter(small(100_000))
      .slice(0, 100)
      .map(({ oid }) => oid),
    run,
  );
  if (![...rules.values()].some((text) => /\bfilter=lfs\b/.test(text.toString("latin1")))) return [];
  const candidates = files.filter(small(maxPointerBytes));
  const texts = await readBlobs([...new Set(candidates.map(({ oid }) => oid))], run);
  return candidates.flatMap(({ oid: blob, path }) => {
    const [, oid, size] = pointer.exec(texts.get(blob)?.toString("latin1") ?? "") ?? [];
    return oid === undefined ? [] : [{ oid, size: Number(size), blob, path }];
  });
}

/** @returns why the file can't be had; null: it was fetched, and its pointer replaced */
async function replace(
  file: LfsFile,
  download: Download,
  scratch: Scratch,
  checked: CheckedFetch,
  signal: AbortSignal,
): Promise<string | null> {
  const stored = join(scratch.directory, "lfs-file");
  try {
    const response = await followRedirects(download, checked, signal);
    if (response.status !== 200 || response.body === null) {
      await response.body?.cancel();
      return `Their host answered with status ${response.status}.`;
    }
    const hash = createHash("sha256");
    let bytes = 0;
    const check = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        bytes += chunk.length;
        hash.update(chunk);
        if (bytes > file.size) done(wrongContent());
        else done(null, chunk);
      },
    });
    await pipeline(Readable.fromWeb(response.body as never), check, createWriteStream(stored), { signal });
    if (bytes !== file.size || hash.digest("hex") !== file.oid) throw wrongContent();
    const blob = (await gitText(["hash-object", "-w", "--no-filters", "--", stored], { scratch, signal })).trim();
    await runGit(["update-ref", `refs/replace/${file.blob}`, blob], { scratch, signal });
    return null;
  } catch (error) {
    signal.throwIfAborted();
    const problem = publicProblem(error, "Their host");
    return problem instanceof TowpathError ? problem.message : "The connection to their host broke.";
  } finally {
    await rm(stored, { force: true });
  }
}

const wrongContent = () =>
  new TowpathError("upstream_unavailable", "Their host sent other content than the commit names.");
