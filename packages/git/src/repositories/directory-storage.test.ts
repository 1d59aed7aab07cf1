import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { repositoryStorageContract } from "../testing/storage-contract.ts";
import { directoryStorage } from "./directory-storage.ts";

// Processes of one machine share the directory.
repositoryStorageContract("directory", {
  kind: "directory",
  databaseUrl: "",
  open: (directory) => directoryStorage(join(directory, "stored")),
  newId: async () => randomUUID(),
});
