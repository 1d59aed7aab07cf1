import { s3Blobs } from "@towpath/artifacts/testing";
import { bucketOf } from "./versitygw.ts";

// Stores a file in a process of its own: `node --expose-gc put-large.ts ADDRESS DIGEST FILE`, with the settings in its
// environment. Prints how many bytes it held at most, more than before.

const [address = "", digest = "", file = ""] = process.argv.slice(2);
const settings = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => name.startsWith("TOWPATH_")),
) as Record<string, string>;
const blobs = s3Blobs(bucketOf(address, settings));

function held(): number {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
const before = held();
let most = before;
let sampling: NodeJS.Timeout | undefined;
const sample = () => {
  most = Math.max(most, held());
  sampling = setTimeout(sample, 300);
};
sample();
await blobs.put(digest, file);
clearTimeout(sampling);
process.stdout.write(String(most - before));
