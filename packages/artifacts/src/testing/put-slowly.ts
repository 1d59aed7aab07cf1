// A process for a test to kill: stores an artifact that never ends. Argument: the directory of the store.
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { createDirectoryStore } from "../directory-store.ts";

const [directory = ""] = process.argv.slice(2);
const endless = async function* () {
  for (;;) {
    yield Buffer.alloc(100_000);
    process.stdout.write("written\n");
    await sleep(10);
  }
};
await createDirectoryStore(directory).put("0".repeat(64), Readable.from(endless()));
