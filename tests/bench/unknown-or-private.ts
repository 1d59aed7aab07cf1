// Whether timing reveals that a private server exists (GW-4): strangers get the same bytes for it as for an unused
// name. Both are asked on one connection, in random order, and the times are compared by rank: the share of pairs in
// which the private one took longer is 50 % when timing reveals nothing (Mann and Whitney), within the statistical
// error. `node tests/bench/unknown-or-private.ts [requests of each]`

import { Agent, request } from "node:http";
import { shareOutCores, startBench } from "./gateway-setup.ts";
import { median } from "./measure.ts";

const count = Number(process.argv[2] ?? 5000);
const warmUp = 1000;
const call = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });

// Otherwise the gateway's work after an answer delays the measuring client.
const { proxyCore } = await shareOutCores();
const bench = await startBench();
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
try {
  const gateway = await bench.startGateway({ workers: 1, core: proxyCore });
  const privateUrl = gateway.side("private", "bench-signed-in").url;
  // As long as the other name.
  const unknownUrl = privateUrl.replace("bench-signed-in", "bench-nobody-in");
  console.log(`${count} requests to each, one at a time`);
  await compare("without credentials", { privateUrl, unknownUrl }, {});
  await compare("with a token of nobody", { privateUrl, unknownUrl }, { authorization: "Bearer nobody" });
  const malformed = `tp_${"a".repeat(49)}`;
  await compare("with a mistyped key", { privateUrl, unknownUrl }, { authorization: `Bearer ${malformed}` });
  await compare("metadata", { privateUrl: metadata(privateUrl), unknownUrl: metadata(unknownUrl) }, {});
} finally {
  agent.destroy();
  await bench.stop();
}

function metadata(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}/.well-known/oauth-protected-resource${pathname}`;
}

type Pair = { privateUrl: string; unknownUrl: string };

async function compare(what: string, { privateUrl, unknownUrl }: Pair, headers: Record<string, string>): Promise<void> {
  const times: { isPrivate: boolean; ms: number }[] = [];
  for (let at = -warmUp; at < 2 * count; at++) {
    const isPrivate = Math.random() < 0.5;
    const ms = await timeOf(isPrivate ? privateUrl : unknownUrl, headers);
    if (at >= 0) times.push({ isPrivate, ms });
  }
  const of = (isPrivate: boolean) => times.filter((each) => each.isPrivate === isPrivate).map(({ ms }) => ms);
  const [ofPrivate, ofUnknown] = [of(true), of(false)];
  const { share, error } = longerShare(times, ofPrivate.length);
  const micro = (ms: number) => `${Math.round(ms * 1000)} µs`;
  console.log(
    `${what}: median ${micro(median(ofPrivate))} private, ${micro(median(ofUnknown))} unknown; private longer in ` +
      `${(share * 100).toFixed(1)} % of pairs (50 % ± ${(2 * error * 100).toFixed(1)} by chance)`,
  );
}

/** Mann–Whitney's U as a share, by the sum of ranks. `error`: its standard deviation when both are alike. */
function longerShare(times: readonly { isPrivate: boolean; ms: number }[], n: number) {
  const m = times.length - n;
  const ranks = times
    .toSorted((a, b) => a.ms - b.ms)
    .reduce((sum, { isPrivate }, at) => sum + (isPrivate ? at + 1 : 0), 0);
  return { share: (ranks - (n * (n + 1)) / 2) / (n * m), error: Math.sqrt((n + m + 1) / (12 * n * m)) };
}

function timeOf(url: string, headers: Record<string, string>): Promise<number> {
  const isCall = !url.includes("/.well-known/");
  const begun = performance.now();
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      { agent, method: isCall ? "POST" : "GET", headers: { "content-type": "application/json", ...headers } },
      (answer) => {
        answer.resume();
        answer.on("end", () => resolve(performance.now() - begun));
      },
    );
    sent.on("error", reject);
    sent.end(isCall ? call : undefined);
  });
}
