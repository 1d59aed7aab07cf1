import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, statfs } from "node:fs/promises";
import { join } from "node:path";
import type { Disk } from "../port/host.ts";

/** The disk of a directory; kinds are its subdirectories. */
export const hostDisk = (directory: string): Disk => ({
  async space() {
    const { bavail, bsize, blocks } = await statfs(directory);
    return { totalBytes: blocks * bsize, freeBytes: bavail * bsize };
  },
  measure: async (signal) => Object.fromEntries(await directoryBytes(directory, signal)),
});

const program = ["/usr/bin/du", "/bin/du"].find((path) => existsSync(path)) ?? "/usr/bin/du";

/** Bytes on disk of each subdirectory, by name. Ignores what vanishes meanwhile. */
export async function directoryBytes(parent: string, signal?: AbortSignal): Promise<Map<string, number>> {
  const entries = await readdir(parent, { withFileTypes: true }).catch(() => []);
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  const sizes = new Map<string, number>();
  if (names.length === 0) return sizes;
  const output = await new Promise<string>((resolve, reject) => {
    const argv = ["--summarize", "--block-size=1", "--", ...names.map((name) => join(parent, name))];
    const options = {
      env: { LC_ALL: "C" },
      maxBuffer: 16 * 1024 ** 2,
      ...(signal && { signal }),
    };
    // du exits with 1 when a file vanished, and has printed the rest.
    execFile(program, argv, options, (error, stdout) =>
      error && typeof error.code !== "number" ? reject(error) : resolve(stdout),
    );
  });
  for (const line of output.split("\n")) {
    const [bytes = "", path = ""] = line.split("\t");
    if (path !== "") sizes.set(path.slice(parent.length + 1), Number(bytes));
  }
  return sizes;
}
