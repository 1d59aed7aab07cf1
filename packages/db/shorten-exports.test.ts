import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

// Other packages' exports are short already.
test("of drizzle-orm's exports only those remain that are used, and each leads to a module and its types", async () => {
  const directory = dirname(fileURLToPath(import.meta.resolve("drizzle-orm")));
  const { exports } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
  const names = Object.keys(exports);
  expect(names).toContain("./pg-core");
  expect(names.length).toBeLessThan(20);
  for (const name of names) {
    expect(Object.keys(await import(join("drizzle-orm", name))), name).not.toEqual([]);
    expect(readFileSync(join(directory, exports[name].import.replace(/js$/, "d.ts"))), name).not.toHaveLength(0);
  }
});
