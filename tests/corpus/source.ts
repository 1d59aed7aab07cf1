import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** The newest Python that any of them may require: versions are only looked up with it. */
const newestPython = "3.14";

/**
 * Unpacks the source distribution of `name==version`, which uv finds on the package index, into `directory`, unless it
 * exists already.
 * @returns false when the index has only wheels
 * @throws Error when the index can't be reached, or the bytes have another digest
 */
export async function unpackSource(requirement: string, directory: string): Promise<boolean> {
  if (existsSync(directory)) return true;
  const scratch = await mkdtemp(join(tmpdir(), "towpath-corpus-"));
  try {
    const source = await findSource(requirement, scratch);
    if (source === null) return false;
    const { url, sha256 } = source;
    const response = await fetch(url);
    const archive = Buffer.from(await response.arrayBuffer());
    if (!response.ok || createHash("sha256").update(archive).digest("hex") !== sha256) {
      throw new Error(`${url} answered ${response.status}, or other bytes than the package index names.`);
    }
    const file = join(scratch, "archive");
    await writeFile(file, archive);
    const unpacked = join(scratch, "unpacked");
    await mkdir(unpacked);
    await run("tar", ["--extract", "--file", file, "--directory", unpacked, "--strip-components=1"]);
    await mkdir(join(directory, ".."), { recursive: true });
    await rename(unpacked, directory);
    return true;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Null when the index has only wheels. */
async function findSource(requirement: string, scratch: string): Promise<{ url: string; sha256: string } | null> {
  const [input, output] = [join(scratch, "requirements.txt"), join(scratch, "pylock.toml")];
  await writeFile(input, `${requirement}\n`);
  const options = ["--quiet", "--no-deps", "--no-binary", ":all:", "--python-version", newestPython];
  const args = ["pip", "compile", ...options, "--format", "pylock.toml", "--output-file", output, input];
  const hasSource = await run("uv", args).then(
    () => true,
    (error: unknown) => {
      if (/has no source distribution/.test(String(error))) return false;
      throw error;
    },
  );
  if (!hasSource) return null;
  const found = /^(?:sdist|archive) = \{ url = "([^"]+)".*sha256 = "([0-9a-f]{64})"/m.exec(
    await readFile(output, "utf8"),
  );
  if (found === null) throw new Error(`The package index has no source distribution of ${requirement}.`);
  return { url: found[1] ?? "", sha256: found[2] ?? "" };
}
