import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { startLoad } from "../chaos/load.ts";
import { seededRandom } from "../chaos/random.ts";
import { clusterOf } from "./cluster.ts";
import { callTool, type InstanceRig, openInstanceRig } from "./instance-rig.ts";
import type { Name } from "./platform.ts";

// Two of every role: one of each is killed at random moments under load.

const cluster = clusterOf(inject("clusterDirectory"));
const everything = ["web", "worker", "gateway", "runner"].flatMap((role) => [`${role}-1`, `${role}-2`] as Name[]);
let rig: InstanceRig;
beforeAll(async () => {
  rig = await openInstanceRig(cluster, everything, { TOWPATH_LEASE_MS: "3000" });
}, 900_000);
afterAll(() => rig?.close(), 60_000);

const server = "steady";
/** Prints the text of each call that it runs. */
const source = `
from mcp.server.mcpserver import MCPServer

mcp = MCPServer("Steady")
print("ready", flush=True)


@mcp.tool()
def echo(text: str) -> str:
    """Repeats the text."""
    print("ran", text, flush=True)
    return text
`;

const seed = Number(process.env.TOWPATH_TEST_SEED ?? Date.now() % 100_000);
/** A call that was sent to a killed gateway ends at once; one that it held may take as long as its timeout. */
const callTimeoutMs = 30_000;
const clientsPerEra = 1;

test("RUN-8 OPS-11 GW-14 one of every role is killed at random moments under load: no row is lost, nothing runs twice, only calls at the killed gateway fail", async () => {
  process.stdout.write(`Seed of the kills: ${seed} (TOWPATH_TEST_SEED).\n`);
  const random = seededRandom(seed);
  await rig.deploy(server, source);
  const urls = rig.platform.gateways.map((gateway) => `${gateway}/${server}/mcp`);
  for (const url of urls) await callTool(url, "echo", { text: "first" });
  const loads = urls.map((url, at) =>
    startLoad({ clientName: `kills-${at}`, targets: [{ url }], clientsPerEra, pauseMs: 100, callTimeoutMs }),
  );
  await sleep(2000);
  const builds = ["one", "other"].map((name) =>
    rig.deploy(`built-${name}`, `${source}# ${name}\n`).then(String, String),
  );
  const windows: { readonly gateway: number; readonly from: number; to: number }[] = [];
  const takeOverMs: number[] = [];
  const victims = ["runner-1", "worker-1", "gateway-1", "web-1", "runner-2", "worker-2", "gateway-2", "web-2"] as const;
  for (const victim of shuffled(victims, random)) {
    await sleep(500 + random() * 2500);
    const window = { gateway: Number(victim.at(-1)) - 1, from: performance.now(), to: Number.POSITIVE_INFINITY };
    await rig.platform.kill(victim);
    if (victim.startsWith("runner")) takeOverMs.push(await untilRunnerLeads());
    await sleep(random() * 1000);
    await rig.platform.start(victim);
    window.to = performance.now();
    if (victim.startsWith("gateway")) windows.push(window);
  }
  const built = await Promise.all(builds);
  await sleep(3000);
  const totals = await Promise.all(loads.map((load) => load.stop()));
  for (const [gateway, { calls, failed, failures, errors }] of totals.entries()) {
    process.stdout.write(`Gateway ${gateway + 1}: ${calls} calls, ${failed} failed while it was down.\n`);
    const own = windows.filter((window) => window.gateway === gateway);
    const others = failures.filter(({ from, to }) => !own.some((window) => to >= window.from && from <= window.to));
    expect([gateway, others, ...(others.length > 0 ? [...errors] : [])]).toEqual([gateway, []]);
    expect(calls).toBeGreaterThan(50);
  }
  // One of both led.
  const slowest = Math.round(Math.max(...takeOverMs));
  process.stdout.write(`A runner led at most ${slowest} ms after a kill.\n`);
  expect(slowest).toBeLessThan(10_000);

  for (const [at, { answered }] of totals.entries()) {
    const logged = `SELECT count(*)::int AS n, count(DISTINCT id)::int AS ids FROM request_log
      WHERE client_name = 'kills-${at}' AND method = 'tools/call' AND http_status = 200 AND NOT is_error`;
    await expect
      .poll(async () => (await rig.rows<{ n: number; ids: number }>(logged))[0]?.n, { timeout: 30_000 })
      .toBeGreaterThanOrEqual(answered);
    const [found] = await rig.rows<{ n: number; ids: number }>(logged);
    expect(found?.ids).toBe(found?.n);
  }
  // What the server printed is there once for each call that it ran: those of the clients, each with a text of its own.
  const doubled = `SELECT line, count(*)::int AS n FROM server_log JOIN project ON project.id = project_id
    WHERE project.name = '${server}' AND line LIKE 'ran %' AND line <> 'ran first' GROUP BY line HAVING count(*) > 1`;
  expect(await rig.rows(doubled)).toEqual([]);
  const ran = `SELECT count(*)::int AS n FROM server_log JOIN project ON project.id = project_id
    WHERE project.name = '${server}' AND line LIKE 'ran %'`;
  const answered = totals.reduce((sum, each) => sum + each.answered, 0);
  await expect
    .poll(async () => (await rig.rows<{ n: number }>(ran))[0]?.n, { timeout: 30_000 })
    .toBeGreaterThanOrEqual(answered);

  // A terminal whose web was killed may have lost its connection; the build goes on.
  process.stdout.write(built.some((text) => !text.includes("Live:")) ? "A terminal lost its web.\n" : "");
  const ended = `SELECT project.name, array_agg(build.status::text) AS states FROM build JOIN branch ON branch.id = branch_id
    JOIN project ON project.id = branch.project_id WHERE project.name LIKE 'built-%' GROUP BY 1 ORDER BY 1`;
  await expect
    .poll(() => rig.rows(ended), { timeout: 120_000, interval: 1000 })
    .toEqual([
      { name: "built-one", states: ["succeeded"] },
      { name: "built-other", states: ["succeeded"] },
    ]);
  for (const name of ["built-one", "built-other"])
    await callTool(`${rig.platform.gateways[0]}/${name}/mcp`, "echo", { text: name });
  await expect.poll(() => rig.podsOf("build"), { timeout: 60_000 }).toEqual([]);
  await expect.poll(() => rig.podsOf("server"), { timeout: 30_000 }).toHaveLength(3);
}, 600_000);

/** Milliseconds until a runner answers. */
async function untilRunnerLeads(): Promise<number> {
  const begun = performance.now();
  const answers = () => rig.platform.runner.health().then(Boolean, () => false);
  while (!(await answers())) await sleep(50);
  return performance.now() - begun;
}

function shuffled<Value>(values: readonly Value[], random: () => number): Value[] {
  return values
    .map((value) => ({ value, at: random() }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ value }) => value);
}
