import { mkdtemp } from "node:fs/promises";

/** A new directory with a short path, because unix sockets' paths have at most 107 bytes. */
export function shortDirectory(): Promise<string> {
  return mkdtemp("/tmp/tw-");
}
