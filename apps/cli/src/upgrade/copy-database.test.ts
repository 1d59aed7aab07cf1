import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { copyDatabase } from "./copy-database.ts";

const external = { release: "1", databaseUrl: "postgresql://ada:secret@127.0.0.1:1/towpath", clusterDirectory: null };

test.each([
  [
    "without pg_dump",
    "/nonexistent",
    /pg_dump, of your PostgreSQL's release or a newer one, is not installed\. Nothing was/,
  ],
  ["that doesn't answer", process.env.PATH ?? "", /could not be copied: (?!.*secret)(.|\n)+\. Nothing was changed\./],
])("OPS-10 an external database %s is not upgraded without a copy, unless that is asked for", async (_, path, text) => {
  const directory = await mkdtemp(join(tmpdir(), "towpath-copy-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  vi.stubEnv("PATH", path);
  vi.spyOn(process.stdout, "write").mockReturnValue(true);
  const refused = copyDatabase(external, directory);
  await expect(refused).rejects.toThrow(text);
  await expect(refused).rejects.toThrow("./towpath upgrade --without-copy");
  vi.restoreAllMocks();
  expect(await readdir(join(directory, "before-upgrade"))).toEqual([]);
});
