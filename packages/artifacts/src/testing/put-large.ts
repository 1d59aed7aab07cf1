// Stores 100,000 bytes in one chunk and prints "stored" or the error's code. Argument: the directory of the store.
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { createDirectoryStore } from "../directory-store.ts";

const [directory = ""] = process.argv.slice(2);
const bytes = Buffer.alloc(100_000, "x");
const digest = createHash("sha256").update(bytes).digest("hex");
const result = await createDirectoryStore(directory)
  .put(digest, Readable.from([bytes]))
  .then(
    () => "stored",
    (error: NodeJS.ErrnoException) => error.code,
  );
process.stdout.write(String(result));
