import { expect, test } from "vitest";
import { rounds } from "../../../tests/thorough.ts";
import { runKeptChaos } from "./testing/kept-chaos.ts";
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
  expect(seen.fetched + seen.unknown + seen.notRun).toBe(calls);
  expect(Math.min(seen.fetched, seen.breaks, seen.gatewayKills)).toBeGreaterThan(0);
}, 600_000);
