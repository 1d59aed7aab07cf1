import { mkdtemp } from "node:fs/promises";

/** A new folder with a short path: paths of unix sockets hold 107 bytes. */
export function shortDirectory(): Promise<string> {
  return mkdtemp("/tmp/tw-");
}
