// What callers get of the same FastMCP server as the platform's layers are added, in one run: started bare by Python, by
// the harness on a port and on a unix socket, in its sandbox, and through the gateway.
// `./towpath test bench callers [rounds] [seconds] [connections]`.
//
// Sides take turns in short rounds, and ratios are within a round. Beside the rate, which other work on the same cores
// moves, is the processor time of a call: the server's, the gateway's, and that of all else that runs for the instance
// (runner, PostgreSQL). The client is this process, the same for all. `throttled`: the part of the time for which the
// limit of the server's processors held it up; with TOWPATH_SERVER_CPUS=2 it has two.
//
// Seen on two cores that had other work: 0.93 of the direct rate through the gateway (0.87 to 1.50), 1.20 in the sandbox
// (0.87 to 1.93). A call takes the server's process 1.5 ms, with less than a tenth between the sides; the gateway 0.5 ms,
// as its code is cold at some hundred calls a second, and the rest 0.2 ms. The limit of processors held nothing up.
// What cost callers most was the weight of the sandboxes' control group: see packages/runtime/src/host/sandbox.

import { readFile } from "node:fs/promises";
import { type Side, startSides } from "./callers-sides.ts";
import { cpuMicrosOf } from "./gateway-load.ts";
import { median } from "./measure.ts";

const [rounds = 9, seconds = 2, connections = 16] = process.argv.slice(2).map(Number);
/** The gateway compiles its code as it is used. */
const warmUpSeconds = 10;

/** Processor time in microseconds, and milliseconds for which the server had to wait for more of it. */
type Used = Record<"server" | "gateway" | "rest" | "throttledMs", number>;
/** `used`: by one call, but for the time of waiting, which is of a second. */
type Round = { readonly perSecond: number; readonly used: Used };

const { sides, pids, stop } = await startSides(connections);
try {
  for (const side of sides) await load(side, warmUpSeconds);
  const measured = sides.map((side) => ({ side, rounds: [] as Round[] }));
  for (let round = 0; round < rounds; round++) {
    for (const each of measured) each.rounds.push(await load(each.side, seconds));
  }
  console.log(`\n${connections} connections, ${rounds} rounds of ${seconds} s`);
  console.table(measured.map(({ side, rounds }) => rowOf(side, rounds, measured[0]?.rounds ?? [])));
  console.log("target: 0.90 of the direct rate through the gateway");
} finally {
  await stop();
}

async function load(side: Side, forSeconds: number): Promise<Round> {
  const before = await usedBy(side);
  const begun = performance.now();
  let calls = 0;
  const callOnAndOn = async () => {
    for (; performance.now() - begun < forSeconds * 1000; calls++) await side.call();
  };
  await Promise.all(Array.from({ length: connections }, callOnAndOn));
  const elapsedSeconds = (performance.now() - begun) / 1000;
  const after = await usedBy(side);
  const ofCall = (name: keyof Used) => (after[name] - before[name]) / calls;
  const throttledMs = (after.throttledMs - before.throttledMs) / elapsedSeconds;
  const used = { server: ofCall("server"), gateway: ofCall("gateway"), rest: ofCall("rest"), throttledMs };
  return { perSecond: calls / elapsedSeconds, used };
}

async function usedBy({ serverPid }: Side): Promise<Used> {
  const [all, gateway, inSandbox, server, throttledMs] = await Promise.all([
    cpuMicrosOf(pids.launcher),
    cpuMicrosOf(pids.gateway),
    cpuMicrosOf(pids.server),
    cpuMicrosOf(serverPid),
    throttledMsOf(serverPid),
  ]);
  return { server, gateway, rest: all - gateway - inSandbox, throttledMs };
}

/** For how long the control group of a process had used up its limit of processor time; 0 without one. */
async function throttledMsOf(pid: number): Promise<number> {
  const groups = (await readFile(`/proc/${pid}/cgroup`, "utf8")).split("\n").map((line) => line.split(":"));
  const ofVersion1 = groups.find(([, controllers = ""]) => controllers.split(",").includes("cpu"));
  const [, , path = ""] = ofVersion1 ?? groups.find(([number]) => number === "0") ?? [];
  const directory = `/sys/fs/cgroup${ofVersion1 ? "/cpu" : ""}${path}`;
  const statistics = await readFile(`${directory}/cpu.stat`, "utf8").catch(() => "");
  const nanoseconds = Number(/^throttled_time (\d+)$/m.exec(statistics)?.[1] ?? 0);
  return nanoseconds / 1e6 + Number(/^throttled_usec (\d+)$/m.exec(statistics)?.[1] ?? 0) / 1e3;
}

/** `base`: rounds of the side that the others are compared with. */
function rowOf({ name }: Side, results: readonly Round[], base: readonly Round[]) {
  const ratios = (read: (round: Round) => number) =>
    results.map((round, at) => read(round) / read(base[at] ?? round)).toSorted((a, b) => a - b);
  const used = (what: keyof Used) => Math.round(median(results.map((round) => round.used[what])));
  const rates = ratios(({ perSecond }) => perSecond);
  return {
    through: name,
    "calls/s": Math.round(median(results.map(({ perSecond }) => perSecond))),
    "of direct": median(rates).toFixed(2),
    "least to most": `${rates.at(0)?.toFixed(2)} to ${rates.at(-1)?.toFixed(2)}`,
    "server µs": used("server"),
    "of direct's": median(ratios((round) => round.used.server)).toFixed(2),
    "gateway µs": used("gateway"),
    "rest µs": used("rest"),
    "throttled ms/s": used("throttledMs"),
  };
}
