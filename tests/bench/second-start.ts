// Time until `./towpath up` is ready: the first start of a data directory, and later starts.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { instancePorts, startTowpath } from "../instance/towpath-process.ts";
import { printTable } from "./measure.ts";

const runs = 5;
const dataDirectory = await mkdtemp(join(tmpdir(), "towpath-bench-"));
const ports = await instancePorts();
const ready: number[] = [];
const stopped: number[] = [];
for (let run = 0; run <= runs; run++) {
  const instance = await startTowpath(dataDirectory, ports);
  ready.push(instance.readyMs);
  stopped.push((await instance.stop()).tookMs);
}
await rm(dataDirectory, { recursive: true });
printTable("./towpath up", [
  { what: "first start of a data directory, programs installed", values: ready.slice(0, 1) },
  { what: "later starts, spawn to ready", values: ready.slice(1), target: "≤ 5000" },
  { what: "SIGTERM to gone", values: stopped, target: "≤ 10000" },
]);
