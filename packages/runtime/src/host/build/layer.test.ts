import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";

const directory = await mkdtemp(join(tmpdir(), "towpath-layer-"));
afterAll(() => rm(directory, { recursive: true, force: true }));
const environment = join(directory, "environment");
const site = join(environment, "lib/python3.11/site-packages");
const cache = join(directory, "cache");

/**
 * Recreates the environment with these modules and finishes it. Resolves to their bytecode by file name without tag.
 */
async function finish(modules: Readonly<Record<string, string>>): Promise<Record<string, Buffer>> {
  await promisify(execFile)("chmod", ["-Rf", "u+w", environment]).catch(() => {});
  await rm(environment, { recursive: true, force: true });
  for (const [name, text] of Object.entries(modules)) {
    await mkdir(dirname(join(site, name)), { recursive: true });
    await writeFile(join(site, name), text);
  }
  const project = JSON.stringify({ roots: [], name: null, version: "0.0.0" });
  const script = join(import.meta.dirname, "layer.py");
  await promisify(execFile)("python3", ["-I", script, "dependencies", environment, project, cache]);
  const compiled = join(site, "shop/__pycache__");
  const names = await readdir(compiled);
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name.split(".")[0], await readFile(join(compiled, name))])),
  );
}

async function cachedFiles(): Promise<string[]> {
  const entries = await readdir(cache, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

test("BLD-3 dependencies are compiled once: the next build takes bytecode over that belongs to the same source", async () => {
  const modules = { "shop/prices.py": "VAT = 19\n", "shop/stock.py": "LEFT = 3\n" };
  const first = await finish({ ...modules, "shop/broken.py": "def (:\n" });
  // PEP 552: the second word is 1 for hash-based bytecode that is not checked against its source.
  expect(Object.entries(first).map(([name, code]) => [name, code.readUInt32LE(4)])).toEqual([
    ["prices", 1],
    ["stock", 1],
  ]);

  const stored = await cachedFiles();
  expect(stored).toHaveLength(2);
  for (const file of stored) {
    await chmod(file, 0o644);
    await writeFile(file, "taken over");
  }
  const second = await finish({ ...modules, "shop/stock.py": "LEFT = 2\n", "shop/more.py": "" });
  expect(second.prices?.toString()).toBe("taken over");
  expect([second.stock, second.more].map((code) => code?.readUInt32LE(4))).toEqual([1, 1]);
  expect(await cachedFiles()).toHaveLength(4);
});

test("BLD-3 RUN-7 modules of a layer that was packed and unpacked run from its bytecode: nothing is compiled again", async () => {
  await finish({
    "shop/__init__.py": "",
    "shop/prices.py": "VAT = 20\n",
    "shop/stock.py": "from shop import prices\n",
  });
  const unpacked = join(directory, "unpacked");
  await mkdir(unpacked);
  // As layers are packed: no file keeps its time.
  const archive = join(directory, "layer.tar");
  await promisify(execFile)("tar", ["--create", "--mtime=@0", "--file", archive, "--directory", environment, "."]);
  await promisify(execFile)("tar", ["--extract", "--file", archive, "--directory", unpacked]);
  const own = join(unpacked, "lib/python3.11/site-packages");
  // It names each file of which it runs code, compiled or not.
  const python = ["-B", "-v", "-c", "import shop.stock"];
  const { stderr } = await promisify(execFile)("python3", python, { env: { PATH: process.env.PATH, PYTHONPATH: own } });
  const ran = [...stderr.matchAll(/^# code object from '(.*)'$/gm)].map(([, file = ""]) => file);
  expect(
    ran.filter((file) => file.startsWith(own)).map((file) => file.replace(/^.*\/(\w+)\..*(\.\w+)$/, "$1$2")),
  ).toEqual(["__init__.pyc", "stock.pyc", "prices.pyc"]);
});

test("BLD-3 bytecode that a package brings stays, and a cache that can't be used costs nothing but time", async () => {
  await rm(cache, { recursive: true, force: true });
  await writeFile(cache, "not a directory");
  const tag = `cpython-${(await promisify(execFile)("python3", ["-Ic", "import sys; print(*sys.version_info[:2], sep='')"])).stdout.trim()}`;
  const found = await finish({
    "shop/prices.py": "VAT = 19\n",
    "shop/stock.py": "LEFT = 3\n",
    "shop/unsold.py": "",
    [`shop/__pycache__/stock.${tag}.pyc`]: "its own",
  });
  expect(found.stock?.toString()).toBe("its own");
  expect([found.prices, found.unsold].map((code) => code?.readUInt32LE(4))).toEqual([1, 1]);
});
