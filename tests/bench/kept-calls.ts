// node tests/bench/kept-calls.ts [CALLS] [SECONDS]: long calls of a FastMCP server through two gateways, with a key, as tasks of
// either era, or by the request's id alone, with clients, gateways and the server killed at random (CAP-2). The server writes down
// when each run began and finished. What it finished must be fetched, unless its gateway was killed before it could store
// it; an end that nobody knows must be that of a call that a kill hit; nothing runs twice but in a gap of decision 087.
// Of 10,000 calls of up to 600 s, on a clock compressed 83 times, with 37 kills of a gateway and 18 of the server: 7,969 fetched,
// 1,996 unknown and named, 35 not run, none twice (12 min); this run had no calls without a key, and took any unknown end as right.
// Of 300 of up to 20 s, with both, on the real clock, with 2 kills of each and 126 breaks: 171 fetched; 90 unknown by the kill of
// their gateway, 42 of which the server finished, and 35 by its own; 2 not run, 2 sessions lost; of 70 without a key one ran
// twice, in a gap of 087; nothing unexplained. Default: 1000 calls of up to 20 s. What would take longer than seven minutes of waiting runs on a compressed clock, which it says.
// Of 6,000 of up to 600 s, compressed 50 times, with 39 kills of a gateway and 14 of the server: 4,062 fetched, 1,931 unknown by a
// kill, 689 of which the server had finished, 3 not run, 2 sessions lost; of 1,535 without a key 55 ran twice in gaps of 087.
// NOT HELD: one call ran twice outside of them, and two tasks that were never run ended as unknown without a kill.
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
