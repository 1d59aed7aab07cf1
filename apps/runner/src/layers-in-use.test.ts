import { mkdir, mkdtemp, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openArtifacts } from "@towpath/artifacts";
import { createTestDatabase } from "@towpath/db/testing";
import { expect, onTestFinished, test } from "vitest";
import { layersInUse } from "./layers-in-use.ts";

test("LOG-6 RUN-8 unpacked layers of running servers stay; others are removed from the host and can be fetched again", async () => {
  const directory = await mkdtemp(join(tmpdir(), "tp-evict-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const database = await createTestDatabase();
  onTestFinished(() => database.close());
  const { layers } = openArtifacts({ db: database.db, dataDirectory: directory, config: null });
  const add = async (name: string) => {
    const layer = join(directory, name);
    await mkdir(layer);
    await writeFile(join(layer, "file"), name);
    const { digest } = await layers.add(layer, { name: name.repeat(64), maxBytes: 1_000_000 });
    const path = await layers.get(digest);
    const yesterday = new Date(Date.now() - 86_400_000);
    await utimes(path, yesterday, yesterday);
    return digest;
  };
  const [dependencies, code, unused] = [await add("a"), await add("b"), await add("c")];
  const pool = {
    list: async () =>
      ["running", "deleted"].map((deploymentId) => ({ deploymentId, instanceId: "i", state: "ready" as const })),
  };
  const deployment = { layers: { pythonVersion: "3.12.1", dependencies, code } };
  const read = async (id: string) => (id === "running" ? (deployment as never) : null);
  const nothing = { layersInUse: () => [] };
  const inUse = await layersInUse(pool as never, nothing, read);
  expect(inUse).toEqual(new Set([dependencies, code]));
  expect(await layersInUse(pool as never, { layersInUse: () => [unused] }, read)).toContain(unused);
  expect(await layers.evict({ inUse, unusedForMs: 3_600_000 })).toEqual([unused]);
  expect(await readFile(join(await layers.get(unused), "file"), "utf8")).toBe("c");
  const failing = async () => Promise.reject(new Error("unavailable"));
  await expect(layersInUse(pool as never, nothing, failing)).rejects.toThrow("unavailable");
});
