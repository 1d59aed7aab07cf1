import { createHash } from "node:crypto";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Pack, pack } from "tar-stream";
import { fileNames } from "./file-names.ts";

/** Writes an export's files into a tar, below one directory, and their digests at its end. */
export class ExportTar {
  readonly stream: Pack = pack();
  readonly #root: string;
  readonly #mtime: Date;
  readonly #sums: string[] = [];

  constructor(root: string, mtime: Date) {
    this.#root = root;
    this.#mtime = mtime;
    this.stream.entry({ name: `${root}/`, type: "directory", mode: 0o755, mtime });
  }

  directory(path: string): void {
    this.stream.entry({ name: `${this.#root}/${path}/`, type: "directory", mode: 0o755, mtime: this.#mtime });
  }

  link(path: string, target: string): void {
    const name = `${this.#root}/${path}`;
    this.stream.entry({ name, type: "symlink", linkname: target, mtime: this.#mtime });
  }

  text(path: string, text: string): Promise<void> {
    const bytes = Buffer.from(text);
    return this.file(path, { size: bytes.length, content: [bytes] });
  }

  async file(
    path: string,
    {
      size,
      content,
      isExecutable = false,
    }: {
      readonly size: number;
      readonly content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
      readonly isExecutable?: boolean;
    },
  ): Promise<void> {
    const hash = createHash("sha256");
    const hashed = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        hash.update(chunk);
        done(null, chunk);
      },
    });
    const mode = isExecutable ? 0o755 : 0o644;
    const entry = this.stream.entry({ name: `${this.#root}/${path}`, size, mode, mtime: this.#mtime });
    await pipeline(content, hashed, entry);
    this.#sums.push(`${hash.digest("hex")}  ${path}\n`);
  }

  async end(): Promise<void> {
    await this.text(fileNames.sums, this.#sums.join(""));
    this.stream.finalize();
  }
}
