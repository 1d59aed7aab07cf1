import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { openDatabase } from "@towpath/db";
import { afterAll, beforeAll, expect, test } from "vitest";
import { addMigration, copyCheckout, runIn } from "../instance/checkout-copy.ts";
import { operatorToken } from "../instance/operator.ts";
import { plainRequirements, plainServer } from "../instance/plain-server.ts";
import { databaseUrlOf } from "../instance/processes.ts";
import { callSteadily, callTool, callWithoutRunner } from "../instance/steady-calls.ts";
import { instancePorts, type Ports, startTowpath, type TowpathInstance, towpath } from "../instance/towpath-process.ts";

// A copy of this checkout plays the next release: it has one more migration, and at first a gateway that can't start.

const run = promisify(execFile);
const name = "kept-server";
/** Nobody has called it since the instance was started. */
const stopped = "stopped-server";
const broken = 'throw new Error("the next gateway is broken");\n';

let directory: string;
let next: string;
let ports: Ports;
let instance: TowpathInstance;
const urlOf = (server: string) => `${instance.serversUrl}/${server}/mcp`;
const url = () => urlOf(name);
const gatewayOfNext = () => join(next, "apps/gateway/src/main.ts");

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "towpath-next-"));
  next = join(directory, "next");
  await copyCheckout(next);
  // Locks the tables that every call reads and writes.
  const widened = ["project", "deployment", "request_log"].map(
    (table) => `ALTER TABLE ${table} ADD COLUMN next_release int;`,
  );
  await addMigration(next, "next_release", ["CREATE TABLE next_release (id int);", ...widened].join("\n"));
  ports = await instancePorts();
  instance = await startTowpath(join(directory, "data"), ports);
  const code = join(directory, "server");
  await mkdir(code);
  await writeFile(join(code, "server.py"), plainServer({ identity: "str(os.getpid())" }, "import os"));
  await writeFile(join(code, "requirements.txt"), plainRequirements);
  for (const server of [name, stopped]) {
    const deployed = await towpath("deploy", code, "--name", server, "--public", "--data-dir", instance.dataDirectory);
    expect(deployed.status, deployed.stdout + deployed.stderr).toBe(0);
  }
}, 600_000);
afterAll(async () => {
  await instance?.stop();
  await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
});

/** What the dashboard's API answers to a request every 200 ms, of the server and its latest calls. */
async function askSteadily(): Promise<() => Promise<readonly number[]>> {
  const headers = { authorization: `Bearer ${await operatorToken(instance)}` };
  const all: Promise<number>[] = [];
  const ask = (path: string) =>
    fetch(`${instance.url}/api/v1/projects/${name}${path}`, { headers }).then(({ status }) => status);
  const timer = setInterval(() => all.push(ask(all.length % 2 === 0 ? "" : "/logs")), 200);
  return async () => {
    clearInterval(timer);
    return await Promise.all(all);
  };
}

const upgradeToNext = () => runIn(next, "upgrade", "--data-dir", instance.dataDirectory);

const hasNextTable = async () => {
  const { pool, close } = openDatabase(databaseUrlOf(instance.dataDirectory), { maxConnections: 1 });
  const { rows } = await pool.query("SELECT to_regclass('next_release') IS NOT NULL AS found");
  await close();
  return rows[0].found;
};

test("OPS-10 OPS-3 an upgrade whose gateway doesn't start leaves the former one serving, and its commands lead back", async () => {
  const source = await readFile(gatewayOfNext(), "utf8");
  await writeFile(gatewayOfNext(), broken);
  const load = callSteadily({ url: url(), tool: "identity" });
  const failed = await upgradeToNext();
  expect((await load.stop()).failed).toEqual([]);
  await writeFile(gatewayOfNext(), source);
  expect(failed.status, failed.text).toBe(1);
  expect(failed.text).toMatch(/Upgrading from \S+ \(.+\) to \S+ \(schema \d+_next_release\)\./);
  const reason = "ended while starting (status 1): Error: the next gateway is broken";
  expect(failed.text).toContain(`The new gateway can't start: ${reason}. The former gateway goes on.`);
  expect(await hasNextTable()).toBe(true);

  // As the message says.
  const commands = [...failed.text.matchAll(/^ {2}(mv \S+ \S+)$/gm)].map(([, command]) => command ?? "");
  expect(commands).toHaveLength(2);
  await instance.stop();
  const refused = await towpath("up", "--data-dir", instance.dataDirectory);
  expect(refused.stderr).toContain("a newer release of Towpath");
  for (const command of commands) await run("sh", ["-c", command]);
  instance = await startTowpath(instance.dataDirectory, ports);
  expect(await hasNextTable()).toBe(false);
  await callTool(url(), "identity");
}, 600_000);

test("OPS-10 OPS-3 the next release, once it starts, takes over with its migration and no call fails, nor one that starts a server while there is no runner", async () => {
  await callTool(url(), "identity");
  const load = callSteadily({ url: url(), tool: "identity" });
  const asked = await askSteadily();
  const started = callWithoutRunner(instance, urlOf(stopped));
  const { status, text } = await upgradeToNext();
  expect(new Set(await asked())).toEqual(new Set([200]));
  expect(await started).toContain("structuredContent");
  const { failed } = await load.stop();
  expect(status, text).toBe(0);
  expect(failed).toEqual([]);
  expect(text).toMatch(/The copy from before the upgrade is \S+before-upgrade\/\S+\./);
  expect(await hasNextTable()).toBe(true);
  expect(await readdir(join(instance.dataDirectory, "before-upgrade"))).toHaveLength(1);
}, 600_000);
