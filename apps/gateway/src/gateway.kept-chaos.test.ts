import { expect, test } from "vitest";
import { rounds } from "../../../tests/thorough.ts";
import { runKeptChaos } from "./testing/kept-chaos.ts";
import { type Asked, judge, readRuns } from "./testing/kept-judge.ts";
import { openRig } from "./testing/rig.ts";

const rig = openRig();

test("CAP-2 calls with clients, gateways and a FastMCP server killed at random: none runs twice, each has its result or is named", async () => {
  const calls = rounds(40, 400);
  const seen = await runKeptChaos(rig, {
    calls,
    concurrency: 20,
    maxSeconds: 3,
    gatewayKillMs: 4000,
    serverKillMs: 7000,
  });
  expect(seen).toMatchObject({ ranTwice: [], unexplained: [] });
  const { fetched, unknown, notRun, sessionsLost } = seen;
  expect(fetched + unknown.gateway + unknown.server + notRun + sessionsLost).toBe(calls);
  expect(Math.min(seen.fetched, seen.breaks, seen.gatewayKills)).toBeGreaterThan(0);
}, 600_000);

test("CAP-2 of these calls, an end that nobody knows counts only where a kill hit the call, and a second run only in a named gap", () => {
  const log = "begun c 1-0 gateway-0.1 5000\nfinished c 1-0 gateway-0.1 9000\n";
  const unfinished = "begun c 1-0 gateway-0.1 5000\n";
  const ofCall = (end: string, more: Partial<Asked> = {}): Asked => ({
    way: "key",
    begunAt: 4800,
    asks: [{ gateway: "gateway-0.1", at: 4900 }],
    breaks: [],
    end,
    endedAt: 30_000,
    ...more,
  });
  const judged = (call: Asked, runs: string, ...kills: [process: string, at: number][]) => {
    const { unexplained, ranTwice, ...counts } = judge(
      new Map([["c", call]]),
      readRuns(runs),
      kills.map(([process, at]) => ({ process, at })),
    );
    return { ...counts, isHeld: unexplained.length + ranTwice.length === 0 };
  };
  const unknown = ofCall("unknown");
  expect(judged(ofCall("done c"), log)).toMatchObject({ fetched: 1, isHeld: true });
  expect(judged(unknown, log)).toMatchObject({ isHeld: false });
  expect(judged(unknown, log, ["gateway-0.1", 8000])).toMatchObject({ unknown: { gateway: 1 }, lostResults: 1 });
  // The other gateway; the same one, long after it had stored the end; the server, after its answer or before the call.
  for (const [process, at] of [
    ["gateway-1.1", 8000],
    ["gateway-0.1", 12_000],
    ["server", 10_000],
    ["server", 4000],
  ] as const) {
    expect(judged(unknown, log, [process, at])).toMatchObject({ isHeld: false });
  }
  expect(judged(unknown, unfinished, ["server", 20_000])).toMatchObject({ unknown: { server: 1 }, isHeld: true });
  expect(judged(unknown, unfinished)).toMatchObject({ isHeld: false });
  expect(judged(unknown, "", ["gateway-0.1", 5000])).toMatchObject({ unknown: { gateway: 1 }, isHeld: true });
  expect(judged(unknown, "")).toMatchObject({ isHeld: false });
  expect(judged(ofCall("not run"), log)).toMatchObject({ isHeld: false });

  const again = `${log}begun c 1-1 gateway-1.1 9600\nfinished c 1-1 gateway-1.1 9800\n`;
  expect(judged(ofCall("done c"), again)).toMatchObject({ isHeld: false });
  const repeat = (left: number) => ofCall("done c", { way: "repeat", breaks: [left] });
  expect(judged(repeat(9300), again)).toMatchObject({ ranTwiceInGap: ["c: answer lost on its way"], isHeld: true });
  expect(judged(repeat(7000), again)).toMatchObject({ isHeld: false });
  expect(judged(repeat(7000), again, ["gateway-0.1", 5600])).toMatchObject({
    ranTwiceInGap: ["c: killed before its claim"],
    isHeld: true,
  });
});
