// Disk space of a dependency set of about a gigabyte: uv's cache, the unpacked layers and the stored archives,
// separately and together, hard links counted once; and the peak during the build. Then for another project with the
// same set, and for one with most of it. The last column is the growth of the whole file system, which counts shared
// bytes once on every file system, but also writes of others. Arguments: a directory on the file system to measure
// (default: the temporary directory), packages (default: a gigabyte).
import { execFile } from "node:child_process";
import { mkdtemp, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import startTestPostgres from "@towpath/db/testing/global-setup";
import { plainServer } from "../../packages/builder/src/testing/plain-server.ts";
import { openWorkshop } from "../../packages/builder/src/testing/try-build.ts";

const gigabyte = ["pyarrow", "scipy", "pandas", "polars", "duckdb", "scikit-learn", "onnxruntime"];
const [parent = tmpdir(), ...asked] = process.argv.slice(2);
const set = asked.length > 0 ? asked : gigabyte;
const dataDirectory = await mkdtemp(join(parent, "towpath-bench-disk-"));
const run = promisify(execFile);

/** Bytes on disk of directories below the data directory, together. */
async function bytesOf(...names: readonly string[]): Promise<number> {
  const paths = names.map((name) => join(dataDirectory, name));
  // `du` fails for missing paths and those that vanish meanwhile, and prints the rest.
  const options = { maxBuffer: 2 ** 24 };
  const { stdout } = await run("du", ["--summarize", "--total", "--block-size=1", "--", ...paths], options).catch(
    (error: { stdout: string }) => error,
  );
  return Number(/^(\d+)\ttotal$/m.exec(stdout)?.[1] ?? 0);
}

async function taken(): Promise<number> {
  const { blocks, bfree, bsize } = await statfs(dataDirectory);
  return (blocks - bfree) * bsize;
}

const stopPostgres = await startTestPostgres();
const workshop = await openWorkshop({ dataDirectory, onDisk: true });
const print = (cells: readonly string[]) =>
  process.stdout.write(`${cells.map((cell, at) => (at === 0 ? cell.padEnd(30) : cell.padStart(11))).join("")}\n`);
const megabytes = (bytes: number) => (bytes / 1e6).toFixed(0);
const before = await taken();

async function build(what: string, requirements: readonly string[], word: string): Promise<void> {
  let most = 0;
  let isBuilding = true;
  const watching = (async () => {
    for (; isBuilding; await sleep(500)) most = Math.max(most, await bytesOf("."));
  })();
  const files = { "server.py": `${plainServer}\n# ${word}\n`, "requirements.txt": `${requirements.join("\n")}\n` };
  const begun = performance.now();
  const { result, text } = await workshop.tryBuild(files);
  const seconds = (performance.now() - begun) / 1000;
  isBuilding = false;
  await watching;
  if (!result.ok) throw new Error(text);
  const parts = [await bytesOf("cache/uv"), await bytesOf("cache/layers"), await bytesOf("artifacts")];
  const all = [...parts, await bytesOf("."), most, (await taken()) - before];
  print([what, seconds.toFixed(1), ...all.map(megabytes)]);
}

try {
  print(["MB after", "seconds", "uv's cache", "layers", "archives", "together", "at most", "file system"]);
  await build("a set", set, "one");
  await build("another project, the same", set, "two");
  await build("a third, most of it and more", [...set.slice(1), "sympy"], "three");
} finally {
  await workshop.close();
  await stopPostgres();
  await rm(dataDirectory, { recursive: true });
}
