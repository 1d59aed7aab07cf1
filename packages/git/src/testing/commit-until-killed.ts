// Commits to a repository in a loop, and prints each confirmed commit. With `TEST_KILL_AT`, it kills itself while the
// first bundle is stored.
import { join } from "node:path";
import { type ArtifactStore, openArtifacts } from "@towpath/artifacts";
import { openDatabase } from "@towpath/db";
import { bundleStorage } from "../repositories/bundles/bundle-storage.ts";
import { directoryStorage } from "../repositories/directory-storage.ts";
import { repositoriesIn } from "../repositories/repositories.ts";
import { makeZip, streamOf } from "./make-archive.ts";

const [kind, directory = "", databaseUrl = "", id = "", killAt = ""] = process.argv.slice(2);

function killing(store: ArtifactStore): ArtifactStore {
  if (killAt === "") return store;
  return {
    ...store,
    async add(bytes) {
      if (killAt === "stored") await store.add(bytes);
      process.kill(process.pid, "SIGKILL");
      return new Promise(() => {});
    },
  };
}

function bundles() {
  const { db } = openDatabase(databaseUrl);
  return bundleStorage({
    db,
    store: killing(openArtifacts({ db, dataDirectory: directory, config: null }).store),
    cacheDirectory: join(directory, "killed", "cache"),
    scratchDirectory: join(directory, "killed", "git"),
  });
}

const storage = kind === "directory" ? directoryStorage(join(directory, "stored")) : bundles();
const repositories = repositoriesIn(async () => storage);
for (let count = 0; ; count += 1) {
  const archive = streamOf(makeZip([{ name: "count", content: `${process.pid} ${count}` }]));
  const author = { name: "Ada", email: "ada@example.test" };
  const { commit } = await repositories.commitFiles(id, { branch: "main", archive, author, message: `Count ${count}` });
  process.stdout.write(`${commit.sha}\n`);
}
