// node tests/bench/kept-calls.ts [CALLS] [SECONDS]: long calls of a FastMCP server through two gateways, with clients,
// gateways and the server killed at random (CAP-2). Counts in the server what ran twice. Default: 1000 calls of up to 20 s.
import { runKeptChaos } from "../../apps/gateway/src/testing/kept-chaos.ts";
import { createRig } from "../../apps/gateway/src/testing/rig.ts";
import startTestPostgres from "../../packages/db/src/testing/global-setup.ts";

const [calls = 1000, maxSeconds = 20] = process.argv.slice(2).map(Number);
const stopPostgres = await startTestPostgres();
const rig = await createRig();
const begun = performance.now();
const seen = await runKeptChaos(rig, {
  calls,
  concurrency: Math.min(calls, 90),
  maxSeconds,
  gatewayKillMs: 10_000,
  serverKillMs: 25_000,
});
const minutes = ((performance.now() - begun) / 60_000).toFixed(1);
process.stdout.write(`${JSON.stringify({ ...seen, minutes }, null, 2)}\n`);
await rig.close();
await stopPostgres();
process.exitCode = seen.ranTwice.length + seen.unexplained.length > 0 ? 1 : 0;
