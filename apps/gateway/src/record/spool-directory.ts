import { randomBytes } from "node:crypto";
import { closeSync, constants, openSync } from "node:fs";
import { mkdir, readdir, rename, rm, rmdir } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { join } from "node:path";
import { removeReserve } from "./spool-reserve.ts";

/** Earlier versions wrote `.ndjson` and cannot read `.rows.ndjson`, which they therefore leave alone. */
export const segmentName = /^\d{15}-[0-9a-f]{12}-\d{6}(?:\.rows)?\.ndjson$/;
const owningName = /^[0-9a-f]{12}$/;

/**
 * The directory of one process's segments, `{root}/{id}`. While the process lives it listens on `{root}/{id}.sock`: the
 * kernel closes that socket when the process has ended, for any reason, and never before. So a directory whose socket
 * refuses connections is abandoned, and nobody appends to its segments any more. (A pid does not prove that: another
 * container counts its own.) `root` must be on a local disk: sockets of another machine look closed.
 */
export class SpoolDirectory {
  readonly path: string;
  readonly #root: string;
  readonly #id: string;
  readonly #server: Server;
  /** Keeps paths of sockets short (at most 107 bytes) even below a long root. */
  readonly #rootDescriptor: number;
  #lastSegment = 0;

  private constructor(parts: { root: string; id: string; server: Server; rootDescriptor: number }) {
    this.#root = parts.root;
    this.#id = parts.id;
    this.#server = parts.server;
    this.#rootDescriptor = parts.rootDescriptor;
    this.path = join(parts.root, parts.id);
  }

  /** Makes a new directory for this process. @throws Error of the file system */
  static async create(root: string): Promise<SpoolDirectory> {
    await mkdir(root, { recursive: true, mode: 0o700 });
    const rootDescriptor = openSync(root, constants.O_RDONLY | constants.O_DIRECTORY);
    const id = randomBytes(6).toString("hex");
    const server = createServer((socket) => socket.destroy());
    try {
      await listen(server, socketPath(rootDescriptor, id));
      // After the socket: a directory must never exist before the socket that protects it.
      await mkdir(join(root, id), { mode: 0o700 });
    } catch (error) {
      server.close();
      closeSync(rootDescriptor);
      throw error;
    }
    return new SpoolDirectory({ root, id, server, rootDescriptor });
  }

  /** A name for a new segment: unique among all processes, and names sort by age. */
  newSegmentName(): string {
    const number = String(this.#lastSegment++ % 1_000_000).padStart(6, "0");
    return `${String(Date.now()).padStart(15, "0")}-${this.#id}-${number}.rows.ndjson`;
  }

  /**
   * Moves segments of processes that have ended into this directory and yields their names. Each move is atomic: if
   * several processes do this at once, each segment goes to one of them.
   */
  async *takeAbandoned(): AsyncGenerator<string> {
    for (const entry of await readdir(this.#root, { withFileTypes: true })) {
      const { name: id } = entry;
      if (!entry.isDirectory() || !owningName.test(id) || id === this.#id || !(await this.#isAbandoned(id))) continue;
      const directory = join(this.#root, id);
      for (const name of (await readdir(directory).catch(ignoreMissing)) ?? []) {
        if (!segmentName.test(name)) continue;
        const taken = await rename(join(directory, name), join(this.path, name)).then(() => true, ignoreMissing);
        if (taken) yield name;
      }
      await removeReserve(directory).catch(() => {});
      await rmdir(directory).catch(() => {});
      await rm(join(this.#root, `${id}.sock`), { force: true });
    }
  }

  /** Ends the ownership. Nothing may be appended afterwards: another process may take the remaining segments. */
  async close(): Promise<void> {
    await rmdir(this.path).catch(() => {});
    await new Promise((resolve) => this.#server.close(resolve));
    closeSync(this.#rootDescriptor);
  }

  /** False unless it is proven. */
  #isAbandoned(id: string): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = connect(socketPath(this.#rootDescriptor, id));
      socket.once("connect", () => {
        socket.destroy();
        resolve(false);
      });
      socket.once("error", ({ code }: NodeJS.ErrnoException) => resolve(code === "ECONNREFUSED" || code === "ENOENT"));
    });
  }
}

function socketPath(rootDescriptor: number, id: string): string {
  return `/proc/self/fd/${rootDescriptor}/${id}.sock`;
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    // Exclusive: the socket of a cluster's worker would otherwise be the primary's, and outlive the worker.
    server.listen({ path, exclusive: true }, () => {
      server.off("error", reject).on("error", () => {});
      server.unref();
      resolve();
    });
  });
}

/** Another process was faster. */
function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}
