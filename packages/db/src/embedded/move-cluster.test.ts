import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { moveCluster, pendingMove, removeFormer } from "./move-cluster.ts";
import { startEmbeddedPostgres } from "./postgres.ts";
import { currentMajor, majorOf } from "./programs.ts";

// A real move is in tests/lifecycle/postgres-version.test.ts.

const earlier = currentMajor - 1;

async function directoryOf(majors: Readonly<Record<string, number>>): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "tw-move-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  for (const [name, major] of Object.entries(majors)) {
    await mkdir(join(directory, name));
    await writeFile(join(directory, name, "PG_VERSION"), `${major}\n`);
  }
  return join(directory, "postgres");
}

test("OPS-10 the current major version is that of the installed programs", () => {
  const versions = Object.values(manifest.optionalDependencies);
  expect(new Set(versions.map((version) => Number.parseInt(version, 10)))).toEqual(new Set([currentMajor]));
});

test.each([
  ["no data directory", {}, null],
  ["one of the current version", { postgres: currentMajor }, null],
  ["one of a newer version", { postgres: currentMajor + 1 }, null],
  ["one of an earlier version", { postgres: earlier }, earlier],
  ["a move that was killed before its end", { [`postgres-${earlier}`]: earlier, "postgres-99": 99 }, earlier],
  ["a finished move, whose former one is kept", { postgres: currentMajor, [`postgres-${earlier}`]: earlier }, null],
])("OPS-10 whether the embedded PostgreSQL has to move: %s", async (_, majors, expected) => {
  expect(await pendingMove(await directoryOf(majors))).toBe(expected);
});

test("OPS-10 only data directories of earlier versions than the one that runs are removed", async () => {
  const directory = await directoryOf({ postgres: currentMajor, [`postgres-${earlier}`]: earlier, "postgres-99": 99 });
  expect(await removeFormer(directory)).toEqual([earlier]);
  expect(await readFile(`${directory}-99/PG_VERSION`, "utf8")).toBe("99\n");
  const without = await directoryOf({ [`postgres-${earlier}`]: earlier });
  expect(await removeFormer(without)).toEqual([]);
});

test.each([
  [
    9,
    /one of PostgreSQL 9, and this release has PostgreSQL \d+\. Nothing was changed\. .+ upgrade to one that has both/,
  ],
  [99, /one of PostgreSQL 99, .+ Start the release that last used it or a newer one\.$/],
])(
  "OPS-10 a data directory of PostgreSQL %i, whose programs aren't there, is refused as it is",
  async (major, text) => {
    const directory = await directoryOf({ postgres: major });
    const options = { dataDirectory: directory, socketDirectory: `${directory}.s` };
    await expect(startEmbeddedPostgres({ ...options, durable: true })).rejects.toThrow(text);
    const { signal: canceled } = new AbortController();
    await expect(moveCluster({ ...options, canceled, moveOthers: async () => 0 })).rejects.toThrow(text);
    expect(await majorOf(directory)).toBe(major);
  },
);
