// A process for a test to kill: stores an artifact that never ends. Arguments: see `storeOf`.
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { storeOf } from "./store-of.ts";

const endless = async function* () {
  for (;;) {
    yield Buffer.alloc(100_000);
    process.stdout.write("written\n");
    await sleep(10);
  }
};
await storeOf(process.argv.slice(2)).store.add(Readable.from(endless()));
