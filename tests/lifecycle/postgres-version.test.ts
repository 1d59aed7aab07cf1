import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { openDatabase } from "@towpath/db";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { addMigration, copyCheckout, runIn } from "../instance/checkout-copy.ts";
import { plainRequirements, plainServer } from "../instance/plain-server.ts";
import { installPostgres, linkPostgres, usePostgres } from "../instance/postgres-programs.ts";
import { databaseUrlOf } from "../instance/processes.ts";
import { callTool } from "../instance/steady-calls.ts";
import { instancePorts, type Ports, startTowpath, type TowpathInstance, towpath } from "../instance/towpath-process.ts";

// Copies of this checkout, one of which makes data directories of PostgreSQL 17, play releases before and after a change
// of the embedded PostgreSQL. Both have the real programs of both versions, from npm.

const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;
const name = "kept-server";

let directory: string;
let former: string;
let current: string;
let ports: Ports;
/** Has a server, its logs and a waiting job, in PostgreSQL 17. Stopped. */
let before: string;

beforeAll(async () => {
  // Short enough for the sockets below it.
  directory = await mkdtemp(join(tmpdir(), "tp-pg-"));
  [former, current] = [join(directory, "former"), join(directory, "current")];
  await installPostgres(17, join(directory, "npm"));
  for (const checkout of [former, current]) await copyWithBothPrograms(checkout);
  await usePostgres(former, 17);
  await addMigration(current, "next_release", "CREATE TABLE next_release (id int);");
  ports = await instancePorts();
  before = join(directory, "before");
  const instance = await startTowpath(before, ports, {}, former);
  const code = join(directory, "server");
  await mkdir(code);
  await writeFile(join(code, "server.py"), plainServer({ greeting: '"good morning"' }));
  await writeFile(join(code, "requirements.txt"), plainRequirements);
  const deployed = await towpath("deploy", code, "--name", name, "--public", "--data-dir", before);
  expect(deployed.status, deployed.stdout + deployed.stderr).toBe(0);
  expect(await greeting(instance)).toContain("good morning");
  await query(
    before,
    `INSERT INTO pgboss.job (name, data, policy, singleton_key, start_after)
     VALUES ('mail.send', '{"mailId": "0192a000-0000-7000-8000-000000000001"}', 'short', 'later', now() + interval '1 day')`,
  );
  await instance.stop();
  expect(await majorOf(before)).toBe("17");
}, 600_000);
afterAll(() => rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }));

async function copyWithBothPrograms(checkout: string): Promise<void> {
  await copyCheckout(checkout);
  await linkPostgres(checkout, 17, join(directory, "npm"));
}

const majorOf = async (data: string) => (await readFile(join(data, "postgres/PG_VERSION"), "utf8")).trim();
const greeting = ({ serversUrl }: TowpathInstance) => callTool(`${serversUrl}/${name}/mcp`, "greeting");

async function query(data: string, text: string): Promise<readonly Record<string, unknown>[]> {
  const { pool, close } = openDatabase(databaseUrlOf(data), { maxConnections: 1 });
  return (await pool
    .query(text)
    .then(({ rows }) => rows, String)
    .finally(close)) as Record<string, unknown>[];
}

/** A copy of the stopped instance, with owners. */
async function copyOfBefore(copy: string, parent = directory): Promise<string> {
  const data = join(parent, copy);
  await run("cp", ["-a", before, data]);
  return data;
}

async function start(data: string, checkout: string): Promise<TowpathInstance> {
  const instance = await startTowpath(data, ports, {}, checkout);
  onTestFinished(() => void instance.stop());
  return instance;
}

/** Everything is there, in PostgreSQL 18, and nothing is left of 17. */
async function expectMoved(instance: TowpathInstance): Promise<void> {
  const data = instance.dataDirectory;
  expect(await majorOf(data)).toBe("18");
  expect(await query(data, "SHOW server_version_num")).toEqual([{ server_version_num: expect.stringMatching(/^18/) }]);
  expect(await greeting(instance)).toContain("good morning");
  const counts = `SELECT (SELECT count(*) FROM deployment)::int AS deployments, (SELECT count(*) FROM build_log)::int > 0 AS "hasLines",
    (SELECT count(*) FROM request_log WHERE target = 'greeting' AND time < pg_postmaster_start_time())::int > 0 AS "hasCalls",
    (SELECT data ->> 'mailId' FROM pgboss.job WHERE singleton_key = 'later') AS mail`;
  expect(await query(data, counts)).toEqual([
    { deployments: 1, hasLines: true, hasCalls: true, mail: "0192a000-0000-7000-8000-000000000001" },
  ]);
  expect((await readdir(data)).filter((entry) => entry.startsWith("postgres"))).toEqual(["postgres"]);
}

test("OPS-10 `up` of a release with another PostgreSQL moves the database by itself, and removes the former one when all is ready", async () => {
  const data = await copyOfBefore("moved");
  const instance = await start(data, current);
  expect(instance.output()).toMatch(/Moving the database from PostgreSQL 17 to 18 \d+\.\d s\n/);
  expect(instance.output()).toMatch(/\d+ rows; the former database stays in \S+postgres-17 until Towpath is ready\./);
  expect(instance.output()).toContain("The database of PostgreSQL 17 was removed");
  await expectMoved(instance);
}, 300_000);

test("OPS-10 OPS-3 a move that is killed is made again by the next start", async () => {
  const data = await copyOfBefore("killed");
  const argv = ["up", "--data-dir", data, "--port", String(ports.web), "--gateway-port", String(ports.gateway)];
  const killed = spawn(join(current, "towpath"), argv, { stdio: "ignore" });
  const isMoving = () =>
    readdir(join(data, "postgres-18/base")).then(
      ({ length }) => length >= 4,
      () => false,
    );
  await expect.poll(isMoving, { timeout: 60_000, interval: 5 }).toBe(true);
  killed.kill("SIGKILL");
  await once(killed, "close");
  expect(await majorOf(data)).toBe("17");
  await expectMoved(await start(data, current));
}, 300_000);

test.runIf(isRoot)(
  "OPS-10 OPS-3 without room for two databases the former PostgreSQL goes on, and `up` says so",
  async () => {
    const small = join(directory, "small");
    await mkdir(small);
    const bytesOf = async (path: string) => Number((await run("du", ["-sb", path])).stdout.split("\t")[0]);
    const room = (await bytesOf(before)) + 0.7 * (await bytesOf(join(before, "postgres")));
    await run("mount", ["-t", "tmpfs", "-o", `size=${Math.ceil(room)}`, "none", small]);
    onTestFinished(async () => void (await run("umount", ["--lazy", small])));
    const instance = await start(await copyOfBefore("data", small), current);
    const reason =
      /could not be moved: the copy takes \d+ MiB, and \d+ MiB are free\. PostgreSQL 17 goes on with it, unchanged\. Free disk space/;
    expect(instance.output()).toMatch(reason);
    expect(await majorOf(instance.dataDirectory)).toBe("17");
    expect(await greeting(instance)).toContain("good morning");
    await instance.stop();
  },
  300_000,
);

test("OPS-10 an upgrade while Towpath runs leaves PostgreSQL alone, the next start moves it, and the copy leads back to the former release", async () => {
  const data = await copyOfBefore("upgraded");
  const earlier = await start(data, former);
  const { status, text } = await runIn(current, "upgrade", "--data-dir", data);
  expect(status, text).toBe(0);
  expect(text).toContain("So does PostgreSQL 17: the next start moves the database to PostgreSQL 18.");
  expect(await greeting(earlier)).toContain("good morning");
  await earlier.stop();
  const later = await start(data, current);
  await expectMoved(later);
  await later.stop();
  const commands = [...text.matchAll(/^ {2}(mv \S+ \S+)$/gm)].map(([, command]) => command ?? "");
  expect(commands).toHaveLength(2);
  for (const command of commands) await run("sh", ["-c", command]);
  const back = await start(data, former);
  expect(await majorOf(data)).toBe("17");
  expect(await greeting(back)).toContain("good morning");
}, 600_000);

test("OPS-10 OPS-8 a back-up of a stopped instance of the former PostgreSQL is restored into the current one", async () => {
  const file = join(directory, "backup");
  const key = ["--recipient", "age1ejespc87z4ese6stddhqf5q8gze4k07ucepf0wdv6xhjv45w23ds26924y"];
  const made = await runIn(current, "backup", file, ...key, "--data-dir", before);
  expect(made.status, made.text).toBe(0);
  expect(await majorOf(before)).toBe("17");
  const identity = join(directory, "key.txt");
  await writeFile(identity, "AGE-SECRET-KEY-12362VAYU0AEEP9VTQDA8LFTCFP4KW92HK7CHAEFQLDPQZQ4WWCCSV045NW\n");
  const data = join(directory, "restored");
  const restored = await runIn(current, "restore", file, "--identity", identity, "--data-dir", data);
  expect(restored.status, restored.text).toBe(0);
  expect(await majorOf(data)).toBe("18");
}, 300_000);
