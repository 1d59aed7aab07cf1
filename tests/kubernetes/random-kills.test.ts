import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { startLoad } from "../chaos/load.ts";
import { seededRandom, shuffled } from "../chaos/random.ts";
import { clusterOf } from "./cluster.ts";
import { callTool, type InstanceRig, openInstanceRig } from "./instance-rig.ts";
import type { Name } from "./platform.ts";

// Two of every role: each of them is killed at a random moment under load.

const cluster = clusterOf(inject("clusterDirectory"));
const roles = ["web", "worker", "gateway", "runner"] as const;
const everything = roles.flatMap((role) => [`${role}-1`, `${role}-2`] satisfies Name[]);
let rig: InstanceRig;
beforeAll(async () => {
  rig = await openInstanceRig(cluster, everything, { TOWPATH_LEASE_MS: "3000" });
}, 900_000);
afterAll(() => rig?.close(), 60_000);

const server = "steady";
/** Counts how often it has run each call. */
const source = `
import json
import uuid

from mcp.server.mcpserver import MCPServer

mcp = MCPServer("Steady")
process = uuid.uuid4().hex
runs = {}


@mcp.tool()
def echo(text: str) -> str:
    """Repeats the text."""
    runs[text] = runs.get(text, 0) + 1
    print("ran", text, flush=True)
    return text


@mcp.tool()
def report() -> str:
    """Which process this is, and what it has run."""
    return json.dumps({"process": process, "runs": runs})
`;
type Report = { readonly process: string; readonly runs: Readonly<Record<string, number>> };

const seed = Number(process.env.TOWPATH_TEST_SEED ?? Date.now() % 100_000);
const built = ["built-1", "built-2", "built-3"];

test("RUN-8 OPS-11 GW-13 GW-14 two of every role are killed at random moments under load: only calls at a killed gateway fail, no row is lost, and nothing runs or is built twice", async () => {
  process.stdout.write(`Seed of the kills: ${seed} (TOWPATH_TEST_SEED).\n`);
  const random = seededRandom(seed);
  await rig.deploy(server, source);
  const urls = rig.platform.gateways.map((gateway) => `${gateway}/${server}/mcp`);
  // Gateways find out by comparison.
  await rig.rows(`UPDATE project SET capture_payloads = true WHERE name = '${server}'`);
  for (const url of urls) await expect.poll(() => isCaptured(url), settled).toBe(true);
  const before = await reportAt(urls[0] ?? "");
  // A call whose answer was lost ends with its timeout.
  const options = { clientsPerEra: 1, pauseMs: 150, callTimeoutMs: 20_000 };
  const loads = urls.map((url, at) => startLoad({ ...options, clientName: `kills-${at + 1}`, targets: [{ url }] }));
  await sleep(2000);
  const terminals = built.map(async (name) => {
    await sleep(random() * 15_000);
    return await rig.deploy(name, `${source}# ${name}\n`).then(String, String);
  });
  const gatewayDown: { readonly gateway: number; readonly from: number; readonly to: number }[] = [];
  const takeOverMs: number[] = [];
  const kills: string[] = [];
  for (const victim of shuffled(everything, random)) {
    await sleep(500 + random() * 3000);
    if (victim.startsWith("runner")) await untilBothRunnersAnswer();
    const from = performance.now();
    kills.push(`${new Date().toISOString()} ${victim}`);
    await rig.platform.kill(victim);
    if (victim.startsWith("runner")) takeOverMs.push(await untilRunnerLeads());
    await sleep(random() * 1000);
    await rig.platform.start(victim);
    if (victim.startsWith("gateway"))
      gatewayDown.push({ gateway: Number(victim.at(-1)) - 1, from, to: performance.now() });
  }
  const printed = await Promise.all(terminals);
  await sleep(3000);
  const totals = await Promise.all(loads.map((load) => load.stop()));
  const after = await reportAt(urls[1] ?? "");

  // Calls.
  for (const [at, { calls, failures, errors }] of totals.entries()) {
    process.stdout.write(`Gateway ${at + 1}: ${calls} calls, ${failures.length} failed while it was down.\n`);
    const down = gatewayDown.filter(({ gateway }) => gateway === at);
    const others = failures.filter(({ from, to }) => !down.some((each) => to >= each.from && from <= each.to));
    expect([others, ...(others.length > 0 ? errors : [])]).toEqual([[]]);
    expect(calls).toBeGreaterThan(100);
  }
  expect(after.process).toBe(before.process);
  expect(Object.entries(after.runs).filter(([, times]) => times > 1)).toEqual([]);
  const slowest = Math.round(Math.max(...takeOverMs));
  process.stdout.write(`A runner led at most ${slowest} ms after a kill.\n`);
  expect(slowest).toBeLessThan(10_000);
  expect(rig.platform.ended).toEqual([]);

  // Rows of calls, and lines of the server.
  const answered = totals.flatMap(({ calls, failures }, at) => {
    const failed = new Set(failures.map(({ text }) => text));
    return Array.from({ length: calls }, (_, call) => `kills-${at + 1} ${call}`).filter((text) => !failed.has(text));
  });
  expect(answered.filter((text) => after.runs[text] === undefined)).toEqual([]);
  await expect.poll(async () => missingIn(await texts(rowsOf("kills-%")), answered), settled).toEqual([]);
  const inRows = await texts(rowsOf("kills-%"));
  expect(repeatedIn(inRows)).toEqual([]);
  expect(missingIn(Object.keys(after.runs), inRows)).toEqual([]);
  const lines = `SELECT substr(line, 5) AS text FROM server_log JOIN project ON project.id = project_id
    WHERE project.name = '${server}' AND line LIKE 'ran %'`;
  const missingLines = async () => missingIn(await texts(lines), Object.keys(after.runs));
  await expect
    .poll(missingLines, settled)
    .toEqual([])
    .catch(async (error: unknown) => {
      throw new Error(
        `Kills:\n${kills.join("\n")}\nMissing, in the container's log:\n${await inPod(await missingLines())}`,
        {
          cause: error,
        },
      );
    });
  expect(repeatedIn(await texts(lines))).toEqual([]);

  // Builds. A terminal whose web was killed may have lost its connection; a build that it has begun goes on.
  for (const [at, name] of built.entries()) {
    const [project] = await rig.rows(
      `SELECT 1 FROM build JOIN project ON project.id = build.project_id WHERE name = '${name}'`,
    );
    if (project === undefined) {
      process.stdout.write(`${name} is deployed again: ${printed[at]?.slice(-300)}\n`);
      expect(printed[at]).not.toContain("Live:");
      await rig.deploy(name, `${source}# ${name}\n`);
    }
  }
  const ended = `SELECT name, array_agg(build.status) AS states, array_agg(deployment.id = route.deployment_id) AS live
    FROM project JOIN build ON build.project_id = project.id LEFT JOIN deployment ON deployment.build_id = build.id
    LEFT JOIN route ON route.project_id = project.id WHERE name LIKE 'built-%' GROUP BY name ORDER BY name`;
  await expect
    .poll(() => rig.rows(ended), { timeout: 120_000, interval: 1000 })
    .toEqual(built.map((name) => ({ name, states: ["succeeded"], live: [true] })));
  for (const name of built) await callTool(`${rig.platform.gateways[0]}/${name}/mcp`, "echo", { text: name });
  await expect.poll(() => rig.podsOf("build"), settled).toEqual([]);
  await expect.poll(() => rig.podsOf("server"), settled).toHaveLength(1 + built.length);
}, 600_000);

const settled = { timeout: 60_000, interval: 500 };

async function reportAt(url: string): Promise<Report> {
  const answer = await callTool(url, "report", {});
  const { result } = JSON.parse(/\{.*\}/s.exec(answer)?.[0] ?? "");
  return JSON.parse(result.content[0].text);
}

/** Whether the row of a call has its arguments. */
async function isCaptured(url: string): Promise<boolean> {
  const text = `captured by ${url} at ${performance.now()}`;
  await callTool(url, "echo", { text });
  await sleep(1000);
  return (await texts(rowsOf("two"))).includes(text);
}

/** Texts of the calls of a client that were answered, as the log has them. */
const rowsOf = (client: string) => `SELECT request_payload #>> '{params,arguments,text}' AS text FROM request_log
  WHERE client_name LIKE '${client}' AND method = 'tools/call' AND outcome = 'ok'`;

/** The records of lines in the log of the server's container, whose third field is their time in milliseconds. */
async function inPod(missing: readonly string[]): Promise<string> {
  const names = await rig.podsOf("server");
  const logs = await Promise.all(
    names.map((name) => cluster.kubectl("-n", rig.namespace, "logs", name, "-c=server").catch(String)),
  );
  const ends = new Set(missing.map((text) => `ran ${text}`));
  const records = logs.flatMap((log) => log.split("\n"));
  return records.filter((record) => ends.has(/ran .*$/.exec(record)?.[0] ?? "")).join("\n");
}

const texts = async (sql: string) => (await rig.rows<{ text: string }>(sql)).map(({ text }) => text);
const missingIn = (found: readonly string[], expected: readonly string[]) => {
  const all = new Set(found);
  return expected.filter((text) => !all.has(text));
};
const repeatedIn = (found: readonly string[]) => found.filter((text, at) => found.indexOf(text) !== at);

/** One leads, and one waits. */
const untilBothRunnersAnswer = () =>
  expect
    .poll(() => Promise.all((["runner-1", "runner-2"] as const).map((name) => rig.platform.health(name))), settled)
    .toEqual([200, 200]);

/** Milliseconds until a runner answers. */
async function untilRunnerLeads(): Promise<number> {
  const begun = performance.now();
  const answers = () =>
    rig.platform.runner.health().then(
      () => true,
      () => false,
    );
  while (!(await answers())) await sleep(50);
  return performance.now() - begun;
}
