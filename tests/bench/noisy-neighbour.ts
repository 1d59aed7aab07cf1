// The cost of one tenant's flood for another: the same quiet caller alone and during a flood, through a gateway with
// the default limits and through one without limits, in one run. `node tests/bench/noisy-neighbour.ts [rounds]
// [seconds]` needs nginx and wrk. Each gateway has one worker on one core; everything else runs on the others, the
// flood at the lowest priority, so that the quiet caller waits only for the gateway.

import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { Agent, fetch as undiciFetch } from "undici";
import { type Side, wrkScript } from "./gateway-load.ts";
import { startBench } from "./gateway-setup.ts";
import { median } from "./measure.ts";

const run = promisify(execFile);
const rounds = Number(process.argv[2] ?? 3);
const seconds = Number(process.argv[3] ?? 10);
const quietCallsPerSecond = 100;
const floodConnections = 256;
/** Bursts are spent and code is compiled. */
const warmUpSeconds = 12;
const maxSlowdown = 2;

type Quiet = { p50: number; p99: number; failed: number };
type Flood = { letIn: number; refused: number };

const bench = await startBench();
const dispatcher = new Agent({ connections: 32 });
try {
  const rows = [];
  for (const [name, environment] of [
    ["usual limits", { TOWPATH_LIMIT_CALLER_PER_MINUTE: "6000", TOWPATH_LIMIT_CALLER_BURST: "1000" }],
    ["no limits", noLimits()],
  ] as const) {
    const gateway = await bench.startGateway({ workers: 1, core: "0", environment });
    const quiet = gateway.side("quiet", "bench-public");
    const noisy = gateway.side("noisy", "bench-signed-in", bench.apiKey);
    await Promise.all([flood(noisy, warmUpSeconds), call(quiet, warmUpSeconds)]);
    rows.push(...(await compare(name, quiet, noisy)));
  }
  console.table(rows);
  console.log(`target: a quiet caller's p99 beside a flood within ${maxSlowdown} times its p99 alone`);
} finally {
  await dispatcher.close();
  await bench.stop();
}

async function compare(name: string, quiet: Side, noisy: Side) {
  const alone: Quiet[] = [];
  const beside: Quiet[] = [];
  const floods: Flood[] = [];
  for (let round = 0; round < rounds; round++) {
    alone.push(await call(quiet, seconds));
    const [of, flooded] = await Promise.all([call(quiet, seconds), flood(noisy, seconds)]);
    beside.push(of);
    floods.push(flooded);
    await sleep(1000);
  }
  const p99Alone = median(alone.map(({ p99 }) => p99));
  const rowOf = (side: string, of: readonly Quiet[], extra: object) => ({
    gateway: name,
    "the quiet caller": side,
    "p50 ms": median(of.map(({ p50 }) => p50)).toFixed(2),
    "p99 ms": median(of.map(({ p99 }) => p99)).toFixed(2),
    "of alone": (median(of.map(({ p99 }) => p99)) / p99Alone).toFixed(2),
    failed: of.reduce((sum, { failed }) => sum + failed, 0),
    ...extra,
  });
  const perSecond = (values: number[]) => Math.round(median(values) / seconds);
  return [
    rowOf("alone", alone, {}),
    rowOf("beside a flood", beside, {
      "flood let in/s": perSecond(floods.map(({ letIn }) => letIn)),
      "flood refused/s": perSecond(floods.map(({ refused }) => refused)),
    }),
  ];
}

/** Calls at fixed intervals, without waiting for answers: a slow gateway can't slow its measurement. */
async function call({ url, request }: Side, forSeconds: number): Promise<Quiet> {
  const durations: number[] = [];
  let failed = 0;
  const begun = performance.now();
  const calls: Promise<void>[] = [];
  for (let at = 0; at < forSeconds * quietCallsPerSecond; at++) {
    const due = begun + (at * 1000) / quietCallsPerSecond;
    await sleep(Math.max(0, due - performance.now()));
    const sent = performance.now();
    const one = undiciFetch(url, { ...request, dispatcher }).then(async (answer) => {
      await answer.arrayBuffer();
      if (answer.status !== 200) failed++;
      durations.push(performance.now() - sent);
    });
    calls.push(one.catch(() => void failed++));
  }
  await Promise.all(calls);
  durations.sort((a, b) => a - b);
  const quantile = (share: number) => durations[Math.floor(durations.length * share)] ?? Number.NaN;
  return { p50: quantile(0.5), p99: quantile(0.99), failed };
}

/** Calls as fast as possible on many connections. */
async function flood(side: Side, forSeconds: number): Promise<Flood> {
  const script = join(bench.directory, "flood.lua");
  await writeFile(script, wrkScript(side.request));
  const args = ["-n", "19", "wrk", "-t1", `-c${floodConnections}`, `-d${forSeconds}s`, "-s", script, side.url];
  const { stdout } = await run("nice", args);
  const requests = Number(/(\d+) requests in/.exec(stdout)?.[1] ?? Number.NaN);
  const refused = Number(/Non-2xx or 3xx responses: (\d+)/.exec(stdout)?.[1] ?? 0);
  return { letIn: requests - refused, refused };
}

function noLimits(): Record<string, string> {
  const names = ["CALLER", "SERVER", "ORGANIZATION"];
  return Object.fromEntries(names.map((name) => [`TOWPATH_LIMIT_${name}_PER_MINUTE`, "0"]));
}
