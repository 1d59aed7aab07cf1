import { join } from "node:path";
import { openDatabase } from "@towpath/db";
import { createArtifactStore } from "../artifact-store.ts";
import { directoryBlobs } from "../directory-blobs.ts";

/** For processes that tests start: the store of a directory and of a database, by its URL. */
export function storeOf([directory = "", databaseUrl = ""]: readonly string[]) {
  const { db, close } = openDatabase(databaseUrl);
  const places = { blobs: directoryBlobs(join(directory, "blobs")), incoming: join(directory, "incoming") };
  return { store: createArtifactStore({ db, ...places }), close };
}
