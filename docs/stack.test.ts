import { existsSync, globSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { z } from "zod";

const root = fileURLToPath(new URL("../", import.meta.url));
const manifestSchema = z.object({
  name: z.string(),
  dependencies: z.record(z.string(), z.string()).default({}),
  devDependencies: z.record(z.string(), z.string()).default({}),
  exports: z.record(z.string(), z.string()).default({}),
});

const manifests = globSync("{packages/*,apps/*,tests,.}/package.json", { cwd: root }).map((file) => ({
  directory: dirname(join(root, file)),
  ...manifestSchema.parse(JSON.parse(readFileSync(join(root, file), "utf8"))),
}));

test("OPS-1 the suite runs on Node 24", () => {
  expect(process.versions.node).toMatch(/^24\./);
});

test("OPS-1 every dependency is pinned exactly", () => {
  const loose = manifests.flatMap(({ name, dependencies, devDependencies }) =>
    Object.entries({ ...dependencies, ...devDependencies })
      .filter(([, range]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(range))
      .map(([dependency, range]) => `${name}: ${dependency} ${range}`),
  );
  expect(loose).toEqual([]);
});

test("OPS-1 packages with dangerous or broken versions are installed in the pinned ones", () => {
  const watched = ["better-auth", "@tanstack/react-start", "drizzle-orm", "pg-boss", "@modelcontextprotocol/client"];
  for (const { directory, dependencies } of manifests) {
    for (const name of watched.filter((candidate) => dependencies[candidate])) {
      const entry = createRequire(join(directory, "package.json")).resolve.paths(name) ?? [];
      const manifest = entry
        .map((path) => join(path, name, "package.json"))
        .map(readIfExists)
        .find((text) => text !== null);
      expect(JSON.parse(manifest ?? "{}").version, name).toBe(dependencies[name]);
    }
  }
});

test("OPS-1 every subpath that a package exports is an existing file", () => {
  const missing = manifests.flatMap(({ directory, name, exports }) =>
    Object.entries(exports)
      .filter(([, target]) => !existsSync(join(directory, target)))
      .map(([subpath, target]) => `${name} ${subpath}: ${target}`),
  );
  expect(missing).toEqual([]);
  const subpaths = manifests.flatMap(({ name, exports }) =>
    Object.keys(exports).map((subpath) => name + subpath.slice(1)),
  );
  expect(subpaths.length).toBeGreaterThan(20);
  const unresolved = subpaths.filter((specifier) => !import.meta.resolve(specifier).startsWith("file:"));
  expect(unresolved).toEqual([]);
});

function readIfExists(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

test("OPS-1 no two source files of a directory differ by a plural or a hyphen alone", () => {
  const files = globSync("{apps,packages}/*/src/**/*.{ts,tsx}", { cwd: root }).filter((file) => !/\.test\./.test(file));
  const alike = Map.groupBy(files, (file) => {
    const [name = "", ...kind] = basename(file).split(".");
    const words = name.split("-").map((word) => word.replace(/s$/, ""));
    return [dirname(file), words.join(""), ...kind].join("/");
  });
  expect(files.length).toBeGreaterThan(500);
  expect([...alike.values()].filter((group) => group.length > 1)).toEqual([]);
});
