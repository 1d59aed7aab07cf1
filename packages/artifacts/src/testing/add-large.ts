// Stores 100,000 bytes in one chunk and prints "stored" or the error's code. Arguments: see `storeOf`.
import { Readable } from "node:stream";
import { storeOf } from "./store-of.ts";

const { store, close } = storeOf(process.argv.slice(2));
const result = await store.add(Readable.from([Buffer.alloc(100_000, "x")])).then(
  () => "stored",
  (error: NodeJS.ErrnoException) => error.code,
);
process.stdout.write(String(result));
await close();
