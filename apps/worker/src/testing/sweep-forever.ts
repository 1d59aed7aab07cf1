import { once } from "node:events";
import { openDatabase } from "@towpath/db";
import { openSite, sweepSite } from "./retention-bench.ts";

// After the first line of input, sweeps in a loop until it is killed: node sweep-forever.ts <database URL> <data
// directory> <now>
const [databaseUrl = "", dataDirectory = "", now = ""] = process.argv.slice(2);
const site = await openSite(openDatabase(databaseUrl), dataDirectory);
process.stdout.write("ready\n");
await once(process.stdin, "data");
for (;;) {
  const { problems } = await sweepSite(site, new Date(now), { low: true });
  for (const { name, error } of problems) process.stderr.write(`${name}: ${String(error)}\n`);
}
