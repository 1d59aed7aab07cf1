// Whether the gateway's throughput grows with cores: one worker, then two, loaded in turn on all cores of the machine.
// `node tests/bench/gateway-workers.ts [rounds] [seconds]` needs nginx and wrk.
//
// The load generator, the server and PostgreSQL use the same cores, so on a machine with two the rate can't double.
// That workers don't hinder each other shows in the CPU time of a request, which must not grow with them; compare it
// with the cores that the gateway got.

import { load, type Measured, type Side, warmUp } from "./gateway-load.ts";
import { startBench } from "./gateway-setup.ts";
import { median } from "./measure.ts";

const rounds = Number(process.argv[2] ?? 7);
const seconds = Number(process.argv[3] ?? 3);
const connections = 64;

const bench = await startBench();
try {
  const [one, two] = [await sideOf(1), await sideOf(2)];
  const { directory } = bench;
  for (const side of [one, two]) await warmUp(side, { directory, connections });
  const ofOne: Measured[] = [];
  const ofTwo: Measured[] = [];
  for (let round = 0; round < rounds; round++) {
    ofOne.push(await load(one, { directory, connections, seconds }));
    ofTwo.push(await load(two, { directory, connections, seconds }));
  }
  console.table([rowOf(one, ofOne, ofOne), rowOf(two, ofTwo, ofOne)]);
  const failures = [...ofOne, ...ofTwo].reduce((sum, each) => sum + each.failures, 0);
  if (failures > 0) console.log(`FAILED requests: ${failures}`);
} finally {
  await bench.stop();
}

async function sideOf(workers: number): Promise<Side> {
  const gateway = await bench.startGateway({ workers });
  return gateway.side(workers === 1 ? "1 worker" : `${workers} workers`, "bench-public");
}

function rowOf({ name }: Side, results: readonly Measured[], ofOne: readonly Measured[]) {
  const each = (read: (measured: Measured) => number) => median(results.map(read));
  const growth = results
    .map((measured, at) => measured.requestsPerSecond / (ofOne[at]?.requestsPerSecond ?? Number.NaN))
    .toSorted((a, b) => a - b);
  return {
    gateway: name,
    "requests/s": Math.round(each(({ requestsPerSecond }) => requestsPerSecond)),
    "of one worker": median(growth).toFixed(2),
    "least to most": `${growth.at(0)?.toFixed(2)} to ${growth.at(-1)?.toFixed(2)}`,
    "cores used": each(({ cpuMicros, requestsPerSecond }) => (cpuMicros * requestsPerSecond) / 1e6).toFixed(2),
    "CPU µs a request": each(({ cpuMicros }) => cpuMicros).toFixed(1),
  };
}
