import { createHash } from "node:crypto";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";
import { createGunzip } from "node:zlib";
import { TowpathError } from "@towpath/core/errors";
import type { VolumeEntry } from "@towpath/runtime";
import { type Header, extract as untar } from "tar-stream";
import { BuildFailure, changeCode, diagnosis, failed, megabytes, rebuild } from "../failure.ts";
import { digestOf, linkStaysInside, parseEntryPath, type SourceEntry, type SourceTree } from "./source-tree.ts";

/** The entries of tar-stream, whose types don't export them. */
type Entry = AsyncIterable<unknown> & { readonly header: Header; resume(): unknown };

export type ExtractLimits = {
  readonly packedBytes: number;
  readonly unpackedBytes: number;
  readonly entries: number;
};

export const defaultExtractLimits: ExtractLimits = {
  packedBytes: 100 * 1024 * 1024,
  unpackedBytes: 500 * 1024 * 1024,
  entries: 50_000,
};

const tooLarge = (detail: string) =>
  failed("fetch", "source_too_large", changeCode, {
    title: "The repository is too large",
    detail,
    remedy:
      "Remove large files (data, models, build artifacts) from the repository, and load them when the server starts.",
  });

const unsafe = (name: string, reason: string) =>
  failed("fetch", "source_unsafe", changeCode, {
    title: "The repository contains something that can't be deployed",
    detail: `${JSON.stringify(name.slice(0, 200))} is refused: ${reason}.`,
    remedy: "Remove it from the repository, or replace it with an ordinary file.",
    file: name.slice(0, 200),
  });

const noFiles = () =>
  failed("fetch", "entrypoint_not_found", changeCode, {
    title: "The commit has no files",
    detail: "There is nothing to run.",
    remedy: "Commit a file with a Python MCP server, such as server.py, and push it.",
  });

const unreadable = (cause: unknown) =>
  new BuildFailure(
    diagnosis("fetch", "source_unavailable", rebuild, {
      title: "The repository's archive can't be read",
      detail: `It is not a complete gzipped tarball (${cause instanceof Error ? cause.message : "unknown"}).`,
      remedy: "Rebuild. If it fails again, check whether the Git host lets you download the repository as an archive.",
    }),
    cause,
  );

/** Writes the entries of a source to its volume and rejects with what they throw. See `BuildWorkspace`. */
type WriteEntries = (entries: AsyncIterable<VolumeEntry>) => Promise<void>;

/**
 * Extracts a gzipped tarball, without its top-level directory. The volume must be new and empty, with no other writer,
 * so it contains only what this function creates. Links come last, so that no file is ever written through one.
 *
 * @throws BuildFailure with phase `fetch`; TowpathError of the tarball's source; what `write` throws by itself
 */
export async function extractSource(
  tarball: ReadableStream<Uint8Array>,
  write: WriteEntries,
  limits: ExtractLimits,
  signal: AbortSignal,
): Promise<SourceTree> {
  const extraction = new Extraction(limits);
  const unpack = untar();
  // Listens from here on: the write may begin later, and unpacking would lose entries that nobody takes.
  const archive = unpack[Symbol.asyncIterator]() as AsyncIterator<Entry>;
  const fed = pipeline(
    Readable.fromWeb(tarball as NodeReadableStream<Uint8Array>),
    limited(limits.packedBytes, () => tooLarge(`Its archive is larger than ${megabytes(limits.packedBytes)}.`)),
    createGunzip(),
    // Includes padding and headers, so that a bomb of empty entries is limited too.
    limited(limits.unpackedBytes + limits.entries * 1_536, () =>
      tooLarge(`Extracted, it is larger than ${megabytes(limits.unpackedBytes)}.`),
    ),
    unpack,
    { signal },
  );
  // Reported below; this only keeps an earlier rejection from being "unhandled".
  fed.catch(() => {});
  try {
    await write(extraction.entries({ [Symbol.asyncIterator]: () => archive }, fed));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof BuildFailure || error !== extraction.failure) {
      unpack.destroy();
      throw error;
    }
    const cause = await fed.then(
      () => error,
      (reason: unknown) => reason,
    );
    throw cause instanceof BuildFailure || cause instanceof TowpathError ? cause : unreadable(cause);
  }
  return extraction.tree();
}

/** Forwards chunks up to `limit` bytes, then fails. */
function limited(limit: number, failure: () => Error): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > limit) done(failure());
      else done(null, chunk);
    },
  });
}

class Extraction {
  readonly #limits: ExtractLimits;
  readonly #directories = new Set<string>();
  /** By path. A later file replaces an earlier one of the same path, as in tar. */
  readonly #entries = new Map<string, SourceEntry>();
  #seen = 0;
  #newestMs = 0;
  #failure: unknown = null;

  constructor(limits: ExtractLimits) {
    this.#limits = limits;
  }

  /** What was wrong with the archive; null: nothing. */
  get failure(): unknown {
    return this.#failure;
  }

  /** `fed`: rejects if the archive is incomplete. */
  async *entries(archive: AsyncIterable<Entry>, fed: Promise<void>): AsyncGenerator<VolumeEntry> {
    try {
      for await (const entry of archive) {
        const taken = this.#take(entry);
        if (taken === null) entry.resume();
        else yield taken;
      }
      await fed;
      if (this.#entries.size === 0) throw this.#seen > 0 ? noFiles() : unreadable(new Error("it is empty"));
      yield* this.#checkedLinks();
    } catch (error) {
      this.#failure = error;
      throw error;
    }
  }

  tree(): SourceTree {
    const entries = [...this.#entries.values()];
    const madeAt = this.#newestMs > 0 ? new Date(this.#newestMs) : null;
    return { subPath: "", entries, digest: digestOf(entries), madeAt };
  }

  /** The entry to write now; null: none. */
  #take(entry: Entry): VolumeEntry | null {
    this.#seen += 1;
    if (this.#seen > this.#limits.entries) throw tooLarge(`It has more than ${this.#limits.entries} files.`);
    const { name, type, linkname } = entry.header;
    const path = parseEntryPath(name);
    if (path.kind === "refused") throw unsafe(name, path.reason);
    if (path.kind === "root") return null;
    switch (type) {
      case "directory":
        this.#enter(path.parts, name);
        entry.resume();
        return { path: path.parts.join("/"), kind: "directory" };
      case "file":
      case "contiguous-file":
        return this.#takeFile(entry, path.parts);
      case "symlink":
        this.#takeLink(path.parts, name, linkname ?? "");
        return null;
      default:
        throw unsafe(name, `it is a ${type ?? "special entry"}, not a file, directory or symbolic link`);
    }
  }

  #takeFile(entry: Entry, parts: readonly string[]): VolumeEntry {
    const path = parts.join("/");
    if (this.#directories.has(path)) throw unsafe(path, "an earlier directory has the same name");
    this.#enter(parts.slice(0, -1), path);
    const executable = ((entry.header.mode ?? 0) & 0o100) !== 0;
    const content = this.#contentOf(entry, path, executable);
    return { path, kind: "file", access: executable ? "execute" : "read", content };
  }

  /** Adds the file once it has been read. */
  async *#contentOf(entry: Entry, path: string, executable: boolean): AsyncGenerator<Uint8Array> {
    const hash = createHash("sha256");
    let bytes = 0;
    try {
      for await (const chunk of entry as AsyncIterable<Uint8Array>) {
        hash.update(chunk);
        bytes += chunk.length;
        yield chunk;
      }
    } catch (error) {
      this.#failure = error;
      throw error;
    }
    this.#entries.set(path, { path, kind: "file", executable, bytes, sha256: hash.digest("hex") });
    this.#newestMs = Math.max(this.#newestMs, entry.header.mtime?.getTime() ?? 0);
  }

  #takeLink(parts: readonly string[], name: string, target: string): void {
    const path = parts.join("/");
    if (!linkStaysInside(parts, target))
      throw unsafe(name, `it is a link to ${JSON.stringify(target.slice(0, 200))}, outside the repository`);
    if (this.#directories.has(path) || this.#entries.has(path)) throw unsafe(name, "another entry has the same name");
    this.#entries.set(path, { path, kind: "link", target });
  }

  /** Adds the directories that an entry is in. */
  #enter(parts: readonly string[], name: string): void {
    for (let length = 1; length <= parts.length; length += 1) {
      const path = parts.slice(0, length).join("/");
      if (this.#entries.has(path)) throw unsafe(name, "an earlier file or link has the same name");
      this.#directories.add(path);
    }
  }

  *#checkedLinks(): Generator<VolumeEntry> {
    const links = new Map<string, string>();
    for (const entry of this.#entries.values()) if (entry.kind === "link") links.set(entry.path, entry.target);
    for (const [path, target] of links) {
      const parts = path.split("/");
      // With `a -> b`, `a/../..` depends on where `b` leads: no link may pass through another.
      const steps = target.split("/").filter((step) => step !== "" && step !== ".");
      const passesLink = passesThroughLink(parts.slice(0, -1), steps, links);
      if (passesLink) throw unsafe(path, `it is a link to ${JSON.stringify(target)}, which leads through another link`);
      this.#enter(parts.slice(0, -1), path);
      yield { path, kind: "link", target };
    }
  }
}

/** Whether following `steps` from `directory` passes through a link before the last step. Compares paths only. */
function passesThroughLink(
  directory: readonly string[],
  steps: readonly string[],
  links: ReadonlyMap<string, string>,
): boolean {
  const at = [...directory];
  return steps.some((step, index) => {
    if (step === "..") at.pop();
    else at.push(step);
    return index < steps.length - 1 && links.has(at.join("/"));
  });
}
