// What the gateway's own code adds to a call, without HTTP on either side, which a bare proxy needs as well: route,
// policies, limits, reading of request and answer, and the row on disk and in a real database.
// `./towpath test bench gateway-own [rounds] [calls] [checkout]`; with the path of another checkout, with its own
// node_modules, its gateway takes turns with this one's.
//
// Unlike the processor time of calls over sockets (gateway.ts), it moves little with other work on the machine: the least
// of some rounds is within a tenth of that of the next run. The second table says where the time of a call that is
// answered by an event stream goes.
//
// Measured on two busy cores: 30 to 33 µs, for JSON and event streams alike, where the bare proxy of gateway.ts takes 60 µs
// for a call in its quietest second. So the gateway costs half as much again; at a quarter, its own code would have 15 µs.
// Reading the two messages takes a sixth of the 31 (JSON.parse 1.2 µs for the request and 0.6 for the answer), the row and
// its file another, its way to the database an eighth. The rest is spread over forwarding, limits, policies, the route,
// garbage and the event loop, none of which takes more than a seventh.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { median } from "./measure.ts";
import type { Parts } from "./profile-parts.ts";

const [rounds = 12, calls = 2500] = process.argv.slice(2, 4).map(Number);
const warmUpRounds = 6;
const thisCheckout = join(import.meta.dirname, "../..");
const kinds = ["json", "stream"] as const;
type Kind = (typeof kinds)[number];

type Gateway = Awaited<ReturnType<typeof startGateway>>;

async function startGateway(name: string, checkout: string) {
  const main = new URL("gateway-own.main.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, [main, checkout], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const next = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error(`${name} has ended`);
    return String(value);
  };
  await next();
  const ask = async (what: string) => {
    child.stdin.write(`${what}\n`);
    return JSON.parse(await next());
  };
  return {
    name,
    /** Microseconds of processor time of one call. */
    call: (kind: Kind): Promise<number> => ask(`${kind} ${calls}`),
    parts: (kind: Kind): Promise<Parts> => ask(`${kind} ${calls * warmUpRounds} parts`),
    async stop() {
      child.stdin.end();
      await once(child, "exit");
    },
  };
}

const compared = process.argv[4];
const own = await startGateway("this checkout", thisCheckout);
const gateways = compared === undefined ? [own] : [own, await startGateway("the other checkout", compared)];
try {
  for (const kind of kinds) {
    const measured = new Map<Gateway, number[]>(gateways.map((gateway) => [gateway, []]));
    for (let round = -warmUpRounds; round < rounds; round++) {
      for (const [gateway, results] of measured) {
        const micros = await gateway.call(kind);
        if (round >= 0) results.push(micros);
      }
    }
    console.log(`\na call answered by ${kind === "json" ? "JSON" : "an event stream"}, ${rounds} rounds of ${calls}`);
    console.table([...measured].map(([gateway, results]) => rowOf(gateway, results)));
  }
  console.log("\nparts of a call answered by an event stream");
  console.table((await own.parts("stream")).map(([part, share]) => ({ part, share: `${(share * 100).toFixed(1)} %` })));
} finally {
  for (const gateway of gateways) await gateway.stop();
}

function rowOf({ name }: Gateway, results: readonly number[]) {
  return { gateway: name, "least µs": Math.min(...results).toFixed(1), "median µs": median(results).toFixed(1) };
}
