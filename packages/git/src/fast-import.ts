import type { Writable } from "node:stream";

/** Of `git fast-import`, whose input the functions here write. */
export const fastImport = ["fast-import", "--quiet", "--done", "--date-format=raw"];

/** Resolves once the stream accepts more. */
export async function write(stream: Writable, chunk: string | Uint8Array): Promise<void> {
  if (stream.destroyed) throw new Error("git has ended");
  if (stream.write(chunk)) return;
  await new Promise<void>((resolve, reject) => {
    const done = () => {
      stream.off("drain", done).off("close", closed);
      resolve();
    };
    const closed = () => {
      stream.off("drain", done).off("close", closed);
      reject(new Error("git has ended"));
    };
    stream.on("drain", done).on("close", closed);
  });
}

export const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;

/** Names end where git's format has marks of its own. */
const inName = (text: string) => text.replace(/[<>\p{Cc}]/gu, " ").trim();

/** A path without control characters and backslashes. */
export const quotedPath = (path: string) => `"${path.replaceAll('"', '\\"')}"`;

type CommitLines = {
  /** Full name of the ref that will name the commit. */
  readonly ref: string;
  readonly parent: string | null;
  readonly author: { readonly name: string; readonly email: string };
  readonly message: string;
};

/** Begins a commit, which the lines for its files follow. */
export function commitLines({ ref, parent, author, message }: CommitLines): string {
  const who = `${inName(author.name)} <${inName(author.email)}> ${Math.floor(Date.now() / 1000)} +0000`;
  const from = parent === null ? "" : `from ${parent}\n`;
  return `commit ${ref}\nauthor ${who}\ncommitter ${who}\n${data(message)}${from}`;
}
