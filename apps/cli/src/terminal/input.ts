import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";

/** All of stdin. */
export const readInput = (): Promise<string> => text(process.stdin);

/** Asks on the terminal. `hidden`: without echo. */
export async function ask(question: string, { hidden = false } = {}): Promise<string> {
  // Readline clears the line before it shows its prompt: where it shows nothing, we do.
  if (hidden) process.stderr.write(question);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input: process.stdin, output: hidden ? silent : process.stderr, terminal: true });
  try {
    return await reader.question(question);
  } finally {
    reader.close();
    if (hidden) process.stderr.write("\n");
  }
}
