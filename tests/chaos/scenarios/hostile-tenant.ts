import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { repositoryRoot } from "../../instance/towpath-process.ts";
import { deployServer, endpointOf, type Rig, redeployEcho } from "../rig.ts";
import { quantile, type Row } from "../row.ts";
import { rowOf, underLoad } from "../under-load.ts";

const measureMs = 30_000;
const maxSlowdown = 2;
const hostile = "chaos-hostile";
const organization = "chaos-hostile";

const hostileSource = `import asyncio
import sys
import time

from fastmcp import FastMCP

mcp = FastMCP("Hostile")


@mcp.tool
async def flood(seconds: float) -> str:
    """Print as fast as it goes."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sys.stdout.write("\\n" * 500 + "flood\\n" * 500)
        await asyncio.sleep(0)
    return "done"


@mcp.tool
def digits(lines: int) -> str:
    """Print lines that are costly to parse."""
    for _ in range(lines):
        print("1" * 60_000, flush=True)
    return "done"


@mcp.tool
async def hold(seconds: float) -> str:
    """Let callers wait."""
    await asyncio.sleep(seconds)
    return "done"
`;

const sleepingSource = `import time

time.sleep(45)
${hostileSource}`;

async function ensureOrganization(rig: Rig): Promise<void> {
  await rig.database.query(
    "INSERT INTO organization (id, name, slug) VALUES ($1, 'Hostile', $2) ON CONFLICT DO NOTHING",
    [randomUUID(), organization],
  );
}

/** Runs the attack from outside to its end. */
async function attack(rig: Rig): Promise<void> {
  const script = join(repositoryRoot, "tests", "chaos", "attack.ts");
  const args = [script, endpointOf(rig, hostile), String(measureMs / 1_000)];
  const child = spawn(process.execPath, args, { stdio: "ignore" });
  await once(child, "close");
}

/** One tenant floods its log, holds calls and connections and fills the builder, while another works normally. */
export async function hostileTenant(rig: Rig): Promise<Row> {
  const quietServer = rig.servers[0] ?? "";
  // Fewer than usual: all call one server from one address, which may call it a hundred times a second.
  const on = { servers: [quietServer], clientsPerEra: 2 };
  await ensureOrganization(rig);
  await deployServer(rig.dataDirectory, hostile, hostileSource, ["--organization", organization]);
  const alone = await underLoad(rig, "quiet-alone", () => sleep(measureMs), on);

  const sleepers = ["chaos-sleeper-one", "chaos-sleeper-two", "chaos-sleeper-three"].map((name) =>
    deployServer(rig.dataDirectory, name, sleepingSource, ["--organization", organization]).catch(() => {}),
  );
  const beside = await underLoad(rig, "quiet-beside", () => attack(rig), on);
  const begun = performance.now();
  await redeployEcho(rig, quietServer, "beside a hostile one");
  const buildMs = performance.now() - begun;
  await Promise.all(sleepers);

  const [before, during] = [alone, beside].map(({ totals }) => quantile(totals.durationsMs, 0.99));
  const slowdown = (during ?? Number.NaN) / (before ?? Number.NaN);
  const ms = (value = Number.NaN) => `${Math.round(value)} ms`;
  return rowOf(beside, {
    scenario: "hostile tenant beside a quiet one",
    times: 1,
    claims: ({ failed }) => ({
      "no call of the quiet one fails": failed === 0,
      [`the quiet one's p99 stays within ${maxSlowdown} times`]: slowdown <= maxSlowdown,
      "a quiet build does not wait for sleeping ones": buildMs < 30_000,
    }),
    detail: `p99 ${ms(before)} alone, ${ms(during)} beside; a build beside sleeping ones took ${ms(buildMs)}`,
  });
}
