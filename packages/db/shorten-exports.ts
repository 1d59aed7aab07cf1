// Leaves in drizzle-orm's package.json the entries that are used here. For each import between two files of a package
// Node parses all its `exports` (getPackageScopeConfig), and drizzle-orm has 447 in 130 kB: with those a process took
// twice as long to start. The launcher runs this after npm: `node packages/db/shorten-exports.ts`.

import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

interface Manifest {
  exports: Record<string, { import: { default: string }; require: { default: string } }>;
}

/** Of our code, and of drizzle-kit, which requires all dialects. */
const used = [
  ".",
  "./casing",
  "./gel-core",
  "./migrator",
  "./mysql-core",
  "./node-postgres",
  "./node-postgres/migrator",
  "./pg-core",
  "./relations",
  "./singlestore-core",
  "./sqlite-core",
  "./version",
];

const path = join(dirname(createRequire(import.meta.url).resolve("drizzle-orm")), "package.json");
const manifest: Manifest = JSON.parse(readFileSync(path, "utf8"));

// Types lie beside the code of both kinds.
const short = used.flatMap((name) => {
  const entry = manifest.exports[name];
  if (!entry)
    throw new Error(`drizzle-orm has no "${name}" any more. Change the list in packages/db/shorten-exports.ts.`);
  return typeof entry.import === "string"
    ? []
    : [[name, { import: entry.import.default, require: entry.require.default }]];
});

if (short.length > 0) {
  // By another file: package managers may link one file into several checkouts.
  writeFileSync(`${path}.new`, `${JSON.stringify({ ...manifest, exports: Object.fromEntries(short) }, null, 2)}\n`);
  renameSync(`${path}.new`, path);
}
