import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openDatabase } from "@towpath/db";
import { afterAll, beforeAll, expect, test } from "vitest";
import { plainRequirements, plainServer } from "../instance/plain-server.ts";
import { databaseUrlOf, processOf, runningProcessOf } from "../instance/processes.ts";
import { callSteadily, callTool, callWithoutRunner } from "../instance/steady-calls.ts";
import { instancePorts, startTowpath, type TowpathInstance, towpath } from "../instance/towpath-process.ts";
import { isThorough } from "../thorough.ts";

const roles = ["web", "gateway", "worker", "runner"] as const;
const name = "steady";
/** Nobody calls it before the upgrade. */
const sleeper = "asleep";
const streamSeconds = 20;

/** The tool `watch` sends a message every 100 ms; `identity` names the server's process. */
const source = `${plainServer({ watch: '"watched"', identity: "str(os.getpid())" }, "import asyncio, os")}

plain = mcp


async def mcp(scope, receive, send):
    if scope["type"] != "http" or dict(scope["headers"]).get(b"mcp-name") != b"watch":
        return await plain(scope, receive, send)
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
    message = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "still here"}}
    for _ in range(${streamSeconds * 10}):
        await send({"type": "http.response.body", "body": f"data: {json.dumps(message)}\\n\\n".encode(), "more_body": True})
        await asyncio.sleep(0.1)
    result = {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "watched"}]}}
    await send({"type": "http.response.body", "body": f"data: {json.dumps(result)}\\n\\n".encode()})
`;

let directory: string;
let instance: TowpathInstance;
const urlOf = (server: string) => `${instance.serversUrl}/${server}/mcp`;
const url = () => urlOf(name);

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "towpath-upgrade-"));
  const asleepSoon = { TOWPATH_FREEZE_AFTER_MS: "1000" };
  instance = await startTowpath(join(directory, "data"), await instancePorts(), asleepSoon);
  const code = join(directory, "server");
  await mkdir(code);
  await writeFile(join(code, "server.py"), source);
  await writeFile(join(code, "requirements.txt"), plainRequirements);
  for (const server of [name, sleeper]) {
    const deployed = await towpath("deploy", code, "--name", server, "--public", "--data-dir", instance.dataDirectory);
    expect(deployed.status, deployed.stdout + deployed.stderr).toBe(0);
  }
}, 600_000);
afterAll(async () => {
  await instance?.stop();
  await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
});

/** The dashboard's answers to a request every 200 ms. */
function askDashboard(): () => Promise<readonly string[]> {
  const all: Promise<string>[] = [];
  const ask = () => fetch(`${instance.url}/healthz`).then(({ status }) => String(status), String);
  const timer = setInterval(() => all.push(ask()), 200);
  return async () => {
    clearInterval(timer);
    return await Promise.all(all);
  };
}

const stateOfSleeper = async () => {
  const { pool, close } = openDatabase(databaseUrlOf(instance.dataDirectory), { maxConnections: 1 });
  const { rows } = await pool.query(
    `SELECT instance.state FROM instance JOIN deployment ON deployment.id = deployment_id JOIN project ON project.id = project_id
     WHERE project.name = $1 ORDER BY started_at DESC LIMIT 1`,
    [sleeper],
  );
  await close();
  return rows[0]?.state;
};

const pids = () => roles.map((role) => processOf(instance.dataDirectory, role));

test.runIf(isThorough)(
  "OPS-10 RUN-8 kill -9 of the gateway's first process refuses and loses no call of 60 a second",
  async () => {
    const killed = runningProcessOf(instance.dataDirectory, "gateway");
    const before = await callTool(url(), "identity");
    const load = callSteadily({ url: url(), tool: "identity" });
    await sleep(2000);
    process.kill(killed, "SIGKILL");
    const killedAt = performance.now();
    await expect.poll(() => processOf(instance.dataDirectory, "gateway") ?? killed).not.toBe(killed);
    await expect.poll(() => callTool(url(), "identity")).toBe(before);
    await sleep(2000);
    const { calls, failed } = await load.stop();
    // Those that were under way in the killed process may fail: they were sent.
    expect(failed.filter(({ sentAt }) => sentAt > killedAt)).toEqual([]);
    expect(failed.filter(({ reason }) => reason === "ECONNREFUSED")).toEqual([]);
    expect(calls).toBeGreaterThan(100);
  },
);

test("OPS-10 RUN-8 `./towpath upgrade` replaces every process under 60 calls a second and an open stream, and none fails, nor one that wakes a server while there is no runner", async () => {
  await expect.poll(stateOfSleeper).toBe("frozen");
  const before = pids();
  const server = await callTool(url(), "identity");
  const dashboard = askDashboard();
  const load = callSteadily({ url: url(), tool: "identity" });
  const stream = callTool(url(), "watch");
  await sleep(1000);
  const woken = callWithoutRunner(instance, urlOf(sleeper));
  const upgraded = await towpath("upgrade", "--data-dir", instance.dataDirectory);
  expect(upgraded.status, upgraded.stdout + upgraded.stderr).toBe(0);
  expect(upgraded.stdout.match(/\w+(?= replaced$)/gm)).toEqual([...roles]);
  await sleep(2000);
  const { calls, failed } = await load.stop();
  expect(failed).toEqual([]);
  expect(calls).toBeGreaterThan(100);
  expect(await woken).toContain("structuredContent");
  const messages = (await stream).match(/^data: /gm);
  expect(messages).toHaveLength(streamSeconds * 10 + 1);
  expect(new Set(await dashboard())).toEqual(new Set(["200"]));
  // The former ones end when their idle connections are closed.
  const areOthers = () => pids().every((pid, at) => pid !== null && pid !== before[at]);
  await expect.poll(areOthers, { timeout: 60_000 }).toBe(true);
  expect(await callTool(url(), "identity")).toBe(server);
});

test.runIf(isThorough)(
  "OPS-10 an upgrade without a running instance, and one that another command does already, are refused",
  async () => {
    const none = await towpath("upgrade", "--data-dir", join(directory, "none"));
    expect([none.status, none.stderr]).toEqual([1, expect.stringContaining("No Towpath runs on the data directory")]);
    const both = await Promise.all([1, 2].map(() => towpath("upgrade", "--data-dir", instance.dataDirectory)));
    const refused = both.filter(({ status }) => status !== 0);
    expect(refused.map(({ stderr }) => stderr)).toEqual([
      expect.stringContaining("is being upgraded by another command"),
    ]);
  },
);
