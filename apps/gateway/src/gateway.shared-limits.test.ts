import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pino from "pino";
import { Agent, fetch as undiciFetch } from "undici";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { startGateway } from "./compose.ts";
import { answerEmpty, rpc } from "./testing/clients.ts";
import { isAlive, startGatewayProcess } from "./testing/gateway-process.ts";
import { openRig, until } from "./testing/rig.ts";

const limit = { perMinute: 1200, burst: 20 };
const settings = {
  TOWPATH_LIMIT_CALLER_PER_MINUTE: String(limit.perMinute),
  TOWPATH_LIMIT_CALLER_BURST: String(limit.burst),
};
const measuredMs = 5000;

const rig = openRig(settings);

// A connection for each request: whichever worker is free takes it.
const dispatcher = new Agent({ pipelining: 0 });
afterAll(() => dispatcher.close());
const post = async (url: string | URL) => {
  const answer = await undiciFetch(url, { method: "POST", body: rpc(), dispatcher });
  await answer.arrayBuffer();
  return answer.status;
};

type Flood = {
  readonly calls: number;
  readonly admitted: number;
  readonly ms: number;
  /** Time in which a busy machine let nobody ask, though the limit would have let some in. */
  readonly stalledMs: number;
};

/** Calls as fast as it goes, at each URL in turn. */
async function flood(urls: readonly (string | URL)[]): Promise<Flood> {
  const begun = performance.now();
  let [calls, admitted, stalledMs, last] = [0, 0, 0, begun];
  const caller = async (offset: number) => {
    for (let at = offset; performance.now() - begun < measuredMs; at++) {
      const status = await post(urls[at % urls.length] ?? "");
      const pause = performance.now() - last;
      last += pause;
      if (pause > 100) stalledMs += pause;
      calls++;
      if (status === 200) admitted++;
      else await sleep(10);
    }
  };
  await Promise.all([0, 1, 2, 3].map(caller));
  return { calls, admitted, ms: performance.now() - begun, stalledMs };
}

/**
 * The bound of decision 027: beyond the limit, each further process lets in what it can before it hears of the others,
 * which is at most a burst and what the rate gives in that time. Without sharing it were as many times the rate.
 */
function expectWithin({ calls, admitted, ms, stalledMs }: Flood, processes: number, delayMs: number) {
  const perMs = limit.perMinute / 60_000;
  const allowed = limit.burst + perMs * ms;
  expect(admitted).toBeLessThanOrEqual(allowed + (processes - 1) * (limit.burst + perMs * delayMs));
  // Nobody gets much less than the limit either.
  expect(admitted).toBeGreaterThan(Math.min(calls, allowed - perMs * stalledMs) * 0.7);
}

test.runIf(isThorough)(
  "GW-8 GW-14 two gateways behind a round robin let in what one would, to within the bound",
  {
    timeout: 60_000,
  },
  async () => {
    const server = await rig.deploy(answerEmpty);
    const stateDirectory = await mkdtemp(join(tmpdir(), "tp-second-"));
    const second = await startGateway(
      { ...rig.config, stateDirectory, gatewayId: "second" },
      pino({ level: "silent" }),
    );
    onTestFinished(async () => {
      await second.stop(100);
      await rm(stateDirectory, { recursive: true, force: true });
    });
    const urls = [rig.gateway.port, second.port].map((port) => `http://127.0.0.1:${port}/${server.label}/mcp`);
    for (const url of urls) {
      await until(async () => {
        const metrics = await (await fetch(new URL("/-/metrics", url))).text();
        return /^towpath_gateway_limit_gateways 1$/m.test(metrics);
      });
    }
    expectWithin(await flood(urls), 2, 2000);
  },
);

test("GW-8 GW-14 the workers of a gateway let in what one would, to within the bound", {
  timeout: 60_000,
}, async () => {
  const server = await rig.deploy(answerEmpty);
  const directory = await mkdtemp(join(tmpdir(), "tp-limits-"));
  const gateway = await startGatewayProcess(rig, directory, { ...settings, TOWPATH_GATEWAY_WORKERS: "2" });
  onTestFinished(async () => {
    gateway.child.kill("SIGKILL");
    await until(() => !gateway.workers().some(isAlive));
    await rm(directory, { recursive: true });
  });
  const url = `http://127.0.0.1:${gateway.port}/${server.label}/mcp`;
  await until(async () => (await post(url)) === 200);
  expectWithin(await flood([url]), 2, 1000);
});

test("GW-8 what another gateway let in counts here, and invalid messages on its channel do not", async () => {
  const [server, later] = [await rig.deploy(answerEmpty), await rig.deploy(answerEmpty)];
  const receive = (payload: string) => rig.database.pool.query("SELECT pg_notify('towpath_gateways', $1)", [payload]);
  const name = `server ${server.projectId} 127.0.0.1`;
  const hourMs = 3_600_000;
  const message = (from: unknown, ...taken: unknown[]) => JSON.stringify({ from, news: [{ kind: "taken", taken }] });
  for (const nonsense of [
    "",
    "{",
    "[]",
    '{"from":1,"news":[]}',
    '{"from":"x"}',
    '{"from":"x","news":[{"kind":"other"}]}',
    message("x", [name, -5]),
    message("x", [name, "5"]),
    message("x", [name]),
    message(undefined, [name, 5]),
    // A gateway's own message comes back to it.
    message(rig.config.gatewayId, [name, hourMs]),
  ]) {
    await receive(nonsense);
  }
  // Messages arrive in the order in which they were sent: after this one, the gateway has read the others.
  await receive(message("second", [`server ${later.projectId} 127.0.0.1`, hourMs]));
  await until(async () => (await post(later.url)) === 429);
  expect(await post(server.url)).toBe(200);
  await receive(message("third", [name, hourMs]));
  await until(async () => (await post(server.url)) === 429);
  const answer = await undiciFetch(server.url, { method: "POST", body: rpc(), dispatcher });
  expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(3500);
  await answer.arrayBuffer();
});
