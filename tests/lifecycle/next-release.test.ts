import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { openDatabase } from "@towpath/db";
import { afterAll, beforeAll, expect, test } from "vitest";
import { plainRequirements, plainServer } from "../instance/plain-server.ts";
import { databaseUrlOf } from "../instance/processes.ts";
import { callSteadily, callTool } from "../instance/steady-calls.ts";
import {
  instancePorts,
  type Ports,
  repositoryRoot,
  startTowpath,
  type TowpathInstance,
  towpath,
} from "../instance/towpath-process.ts";

// A copy of this checkout plays the next release: it has one more migration, and at first a gateway that can't start.

const run = promisify(execFile);
const name = "kept";
const broken = 'throw new Error("the next gateway is broken");\n';

let directory: string;
let next: string;
let ports: Ports;
let instance: TowpathInstance;
const url = () => `${instance.serversUrl}/${name}/mcp`;
const gatewayOfNext = () => join(next, "apps/gateway/src/main.ts");

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "towpath-next-"));
  next = join(directory, "next");
  await copyCheckout();
  await addMigration("next_release", "CREATE TABLE next_release (id int);");
  ports = await instancePorts();
  instance = await startTowpath(join(directory, "data"), ports);
  const code = join(directory, "server");
  await mkdir(code);
  await writeFile(join(code, "server.py"), plainServer({ identity: "str(os.getpid())" }, "import os"));
  await writeFile(join(code, "requirements.txt"), plainRequirements);
  const deployed = await towpath("deploy", code, "--name", name, "--public", "--data-dir", instance.dataDirectory);
  expect(deployed.status, deployed.stdout + deployed.stderr).toBe(0);
});
afterAll(async () => {
  await instance?.stop();
  await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
});

/** With this checkout's toolchain and packages, but its own workspaces. */
async function copyCheckout(): Promise<void> {
  await mkdir(join(next, "node_modules/@towpath"), { recursive: true });
  await run(
    "sh",
    ["-c", 'git ls-files -z --cached --others --exclude-standard | tar -c --null -T - | tar -x -C "$1"', "sh", next],
    {
      cwd: repositoryRoot,
    },
  );
  await symlink(join(repositoryRoot, ".toolchain"), join(next, ".toolchain"));
  const packages = join(repositoryRoot, "node_modules");
  for (const entry of await readdir(packages))
    if (entry !== "@towpath") await symlink(join(packages, entry), join(next, "node_modules", entry));
  for (const workspaces of ["apps", "packages"])
    for (const each of await readdir(join(next, workspaces)))
      await symlink(join(next, workspaces, each), join(next, "node_modules/@towpath", each));
}

async function addMigration(tag: string, sql: string): Promise<void> {
  const migrations = join(next, "packages/db/migrations");
  const path = join(migrations, "meta/_journal.json");
  const journal = JSON.parse(await readFile(path, "utf8"));
  const last = journal.entries.at(-1);
  const idx = last.idx + 1;
  journal.entries.push({ ...last, idx, when: last.when + 1, tag: `${String(idx).padStart(4, "0")}_${tag}` });
  await writeFile(path, JSON.stringify(journal));
  await writeFile(join(migrations, `${journal.entries.at(-1).tag}.sql`), sql);
}

async function upgradeToNext(): Promise<{ readonly status: number; readonly text: string }> {
  const child = spawn(join(next, "towpath"), ["upgrade", "--data-dir", instance.dataDirectory], {
    env: { ...process.env, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  const onData = (chunk: Buffer) => {
    text += chunk.toString();
  };
  for (const stream of [child.stdout, child.stderr]) stream.on("data", onData);
  const [status] = await once(child, "close");
  return { status: Number(status), text };
}

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
  expect(failed.text).toContain(
    "The new gateway can't start: ended while starting (status 1): the next gateway is broken.",
  );
  expect(failed.text).toContain("The former gateway goes on.");
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

test("OPS-10 OPS-3 the next release, once it starts, takes over with its migration and no call fails", async () => {
  await callTool(url(), "identity");
  const load = callSteadily({ url: url(), tool: "identity" });
  const { status, text } = await upgradeToNext();
  const { failed } = await load.stop();
  expect(status, text).toBe(0);
  expect(failed).toEqual([]);
  expect(text).toMatch(/The copy from before the upgrade is \S+before-upgrade\/\S+\./);
  expect(await hasNextTable()).toBe(true);
  expect(await readdir(join(instance.dataDirectory, "before-upgrade"))).toHaveLength(1);
}, 600_000);
