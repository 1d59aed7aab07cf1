// node tests/bench/kept-calls.ts [CALLS] [SECONDS]: long calls of a FastMCP server through two gateways, with a key, or as tasks
// of either era, with clients, gateways and the server killed at random (CAP-2). Counts in the server what ran twice.
// Of 10,000 calls of up to 600 s, on a clock compressed 83 times, with 37 kills of a gateway and 18 of the server: 7,969 fetched,
// 1,996 unknown and named, 35 not run, none twice (12 min). Default: 1000 calls of up to 20 s. What would take longer than seven minutes of waiting runs on a compressed clock, which it says.
import { runKeptChaos } from "../../apps/gateway/src/testing/kept-chaos.ts";
import { createRig } from "../../apps/gateway/src/testing/rig.ts";
import startTestPostgres from "../../packages/db/src/testing/global-setup.ts";

const [calls = 1000, maxSeconds = 20] = process.argv.slice(2).map(Number);
/** A gateway lets a hundred calls of one server run without their client. */
const concurrency = Math.min(calls, 90);
const aimSeconds = 400;
const compressed = Math.max(1, (calls * maxSeconds) / 2 / concurrency / aimSeconds);
const stopPostgres = await startTestPostgres();
const rig = await createRig();
const begun = performance.now();
const minutesSince = () => ((performance.now() - begun) / 60_000).toFixed(1);
const telling = setInterval(() => process.stderr.write(`${minutesSince()} min\n`), 60_000);
const seen = await runKeptChaos(rig, {
  calls,
  concurrency,
  maxSeconds: maxSeconds / compressed,
  gatewayKillMs: 10_000,
  serverKillMs: 25_000,
});
clearInterval(telling);
const isHeld = seen.ranTwice.length + seen.unexplained.length === 0;
const verdict = isHeld ? "none ran twice, each has its result or is named" : "NOT HELD: see ranTwice and unexplained";
const clock = compressed === 1 ? "real" : `compressed by ${compressed.toFixed(1)}`;
process.stdout.write(`${JSON.stringify({ ...seen, clock, minutes: minutesSince(), verdict }, null, 2)}\n`);
await rig.close();
await stopPostgres();
process.exitCode = isHeld ? 0 : 1;
