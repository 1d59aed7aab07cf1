import { randomUUID } from "node:crypto";
import { mkdtemp, open, readlink, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { git, makeRepository } from "../testing/index.ts";
import { repositoryStorageContract } from "../testing/storage-contract.ts";
import { directoryStorage } from "./directory-storage.ts";

// Processes of one machine share the directory.
repositoryStorageContract("directory", {
  kind: "directory",
  databaseUrl: "",
  open: (directory) => directoryStorage(join(directory, "stored")),
  newId: async () => randomUUID(),
});

test("SRC-3 OPS-3 what makes a repository, and the names of a push's objects and refs, are on disk before it is confirmed", async () => {
  const directory = await mkdtemp(join(tmpdir(), "towpath-flushed-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const flushed: string[] = [];
  const file = await open(join(directory, "any"), "w");
  const { sync } = file;
  vi.spyOn(Object.getPrototypeOf(file), "sync").mockImplementation(async function (this: typeof file) {
    flushed.push(await readlink(`/proc/self/fd/${this.fd}`));
    await sync.call(this);
  });
  await file.close();
  onTestFinished(() => void vi.restoreAllMocks());
  const work = join(directory, "work");
  const sha = await makeRepository(work, { "server.py": "one\n" });
  const [id, stored] = [randomUUID(), join(directory, "stored")];
  const change = await directoryStorage(stored).change(id, "main");
  const made = flushed.splice(0).map((path) => path.replace(/\.\d+-[^/]*\.new/, ""));
  expect(made).toEqual(["/HEAD", "/config", ""].map((name) => `${stored}/${id}.git${name}`).concat(stored));

  await git(work, "push", "--quiet", change.directory, "main:refs/heads/a/b");
  await change.store();
  const names = flushed.map((path) => path.slice(`${change.directory}/`.length));
  expect(names).toEqual(expect.arrayContaining([`objects/${sha.slice(0, 2)}`, "refs/heads", "refs/heads/a"]));
});
