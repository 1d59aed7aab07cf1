// The gateway's cost of a request, compared with the minimal proxy of the same parts: CPU time of a request on the full
// path (route, policy, credentials, forward, record on disk and in a real database), and of one through a bare proxy of
// Node and undici (bare-proxy.main.ts) and through nginx, in front of the same server, in one run. The target is 1.25
// times the bare proxy, for event streams, too. `./towpath test bench gateway [rounds] [seconds] [checkout]` needs
// nginx and wrk; with the path of another checkout, with its own node_modules, its gateway is measured, too.
//
// Each proxy is one process on one core and gets the same load in turn, in short rounds: on a busy machine figures
// move from round to round, so ratios are within a round. The server is nginx, so that it never limits.
//
// Measured on two quiet cores of a slow machine, medians of seven rounds, beside the code of a day earlier (e13def05, before
// decision 092): 1.23 times the bare proxy for JSON (0.98 to 1.37) instead of 1.33, 1.27 for event streams (1.03 to 1.69)
// instead of 1.56, 1.43 with an OAuth token. Between rounds the ratio moves by a quarter; gateway-own.ts compares two codes
// without sockets.
//
// A third of the gateway's time is its own code (JSON of bodies and answers 6 %, rows and spool 6 %, forwarding 6 %); a
// seventh is the two writes to sockets, as in the bare proxy.

import { load, type Measured, type Side, warmUp } from "./gateway-load.ts";
import { shareOutCores, startBench, startOtherProxies } from "./gateway-setup.ts";
import { median } from "./measure.ts";

const rounds = Number(process.argv[2] ?? 7);
const seconds = Number(process.argv[3] ?? 2);
const checkout = process.argv[4];
const connections = 32;

const { proxyCore } = await shareOutCores();
const bench = await startBench();
try {
  const gateway = await bench.startGateway({ workers: 1, core: proxyCore });
  const compared = checkout === undefined ? null : await bench.startGateway({ workers: 1, core: proxyCore, checkout });
  const others = await startOtherProxies(bench);
  await compare("a call answered by JSON", [
    others.bare,
    bench.server,
    gateway.side("gateway, public", "bench-public"),
    ...(compared ? [compared.side("gateway of the checkout, public", "bench-public")] : []),
    gateway.side("gateway, API key", "bench-signed-in", bench.apiKey),
    gateway.side("gateway, OAuth token", "bench-signed-in", await gateway.accessToken()),
    others.nginx,
    others.nginxKeepAlive,
  ]);
  await compare("a call answered by an event stream", [
    others.bareStream,
    gateway.side("gateway, public", "bench-stream"),
    ...(compared ? [compared.side("gateway of the checkout, public", "bench-stream")] : []),
    others.nginxStream,
  ]);
  console.log(`rows in the request log: ${await bench.rowsWritten()}`);
  console.log("targets: CPU <= 1.25 of the bare proxy's; median of one connection <= the server's + 0.200 ms");
} finally {
  await bench.stop();
}

type Round = { loaded: Measured; alone: Measured };

/** The others are compared with the first side. */
async function compare(what: string, sides: readonly Side[]): Promise<void> {
  const { directory } = bench;
  for (const side of sides) await warmUp(side, { directory, connections });
  const measured = new Map<Side, Round[]>(sides.map((side) => [side, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [side, results] of measured) {
      const loaded = await load(side, { directory, connections, seconds });
      results.push({ loaded, alone: await load(side, { directory, connections: 1, seconds: 1 }) });
    }
  }
  const [base = []] = measured.values();
  console.log(`\n${what}, ${connections} connections, ${rounds} rounds of ${seconds} s`);
  console.table([...measured].map(([side, results]) => rowOf(side, results, base)));
  const failures = [...measured.values()]
    .flat()
    .reduce((sum, { loaded, alone }) => sum + loaded.failures + alone.failures, 0);
  if (failures > 0) console.log(`FAILED requests: ${failures}`);
}

function rowOf({ name, pid }: Side, results: readonly Round[], base: readonly Round[]) {
  const each = (read: (round: Round) => number) => median(results.map(read));
  const ratios = (read: (round: Round) => number) =>
    results.map((round, at) => read(round) / read(base[at] ?? round)).toSorted((a, b) => a - b);
  const cpu = ratios(({ loaded }) => loaded.cpuMicros);
  return {
    through: name,
    ...(pid !== null && {
      "CPU µs": each(({ loaded }) => loaded.cpuMicros).toFixed(1),
      "CPU of bare": median(cpu).toFixed(2),
      "least to most": `${cpu.at(0)?.toFixed(2)} to ${cpu.at(-1)?.toFixed(2)}`,
    }),
    "requests/s": Math.round(each(({ loaded }) => loaded.requestsPerSecond)),
    "rate of bare": median(ratios(({ loaded }) => loaded.requestsPerSecond)).toFixed(2),
    "median ms, 1 connection": each(({ alone }) => alone.medianMs).toFixed(3),
  };
}
