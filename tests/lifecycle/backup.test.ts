import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "@towpath/db";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launchChromium } from "../chromium.ts";
import { newVisitor, signUp } from "../e2e/browser.ts";
import { modernCall } from "../instance/modern-call.ts";
import { operatorPost, pushUrlOf } from "../instance/operator.ts";
import { plainRequirements, plainServer } from "../instance/plain-server.ts";
import { databaseUrlOf } from "../instance/processes.ts";
import {
  instancePorts,
  type Ports,
  startTowpath,
  type TowpathInstance,
  towpath,
  towpathWith,
} from "../instance/towpath-process.ts";

// An instance with all that people trust it with is backed up while it is called, removed, and restored elsewhere. The tests
// build on each other.

/** Lasting data takes a loop device. */
const isRoot = process.getuid?.() === 0;
const passphrase = "correct horse battery staple";
const publicKey = "age1ejespc87z4ese6stddhqf5q8gze4k07ucepf0wdv6xhjv45w23ds26924y";
const privateKey = "AGE-SECRET-KEY-12362VAYU0AEEP9VTQDA8LFTCFP4KW92HK7CHAEFQLDPQZQ4WWCCSV045NW";
let directory: string;
let ports: Ports;
let instance: TowpathInstance;
let browser: Browser;
let page: Page;
let key: string;

const source = plainServer(
  { greeting: 'os.environ["GREETING"]', kept: "kept()" },
  `import os, pathlib

def kept():
    path = pathlib.Path("/data/kept")
    path.write_text((path.read_text() if path.exists() else "") + "x")
    return path.read_text()

print("ready to greet", flush=True)
`,
);

beforeAll(async () => {
  // Short enough for the sockets below it.
  directory = await mkdtemp(join(tmpdir(), "tp-bk-"));
  ports = await instancePorts();
  instance = await startTowpath(join(directory, "old"), ports);
  await writeFile(join(directory, "key.txt"), `# public key: ${publicKey}\n${privateKey}\n`);
  const code = await mkdtemp(join(directory, "code-"));
  await writeFile(join(code, "requirements.txt"), plainRequirements);
  await writeFile(join(code, "server.py"), source);
  const of = ["--data-dir", instance.dataDirectory];
  const deployed = await towpath("deploy", code, "--name", "greeter", "--env", "GREETING=good morning", ...of);
  expect(deployed.stdout + deployed.stderr).toContain("Live: ");
  if (isRoot) {
    expect((await towpath("settings", "greeter", "--keep-data", ...of)).status).toBe(0);
    // It takes effect when the server next starts.
    expect((await towpath("deploy", code, "--name", "greeter", "--rebuild", ...of)).status).toBe(0);
  }
  const [{ slug }] = (await query("SELECT slug FROM organization")) as [{ slug: string }];
  key = String((await operatorPost(instance, `organizations/${slug}/api-keys`, { name: "calls" })).key);
  browser = await launchChromium();
  ({ page } = await newVisitor(browser));
  await signUp(page, instance.url);
  // The first person of an instance joins its own organization.
  await page.waitForURL(/\/local\//);
}, 420_000);
afterAll(async () => {
  await browser?.close();
  await instance?.stop();
  await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
});

async function query(text: string): Promise<readonly Record<string, unknown>[]> {
  const { pool, close } = openDatabase(databaseUrlOf(instance.dataDirectory), { maxConnections: 1 });
  try {
    return (await pool.query(text)).rows;
  } finally {
    await close();
  }
}

async function call(tool: string, apiKey = key): Promise<string> {
  const { headers, ...rest } = modernCall(tool, {}, "Caller");
  const url = `http://localhost:${ports.gateway}/greeter/mcp`;
  const answer = await fetch(url, { ...rest, headers: { ...headers, authorization: `Bearer ${apiKey}` } });
  return /"result": ?"([^"]*)"/.exec(await answer.text())?.[1] ?? `status ${answer.status}`;
}

/** Of the back-up with layers; the others are for a key. */
const withPassphrase = { env: { TOWPATH_BACKUP_PASSPHRASE: passphrase } };
const identity = () => ["--identity", join(directory, "key.txt")];
const file = (name: string) => join(directory, name);
const callsLogged = async () =>
  (await query("SELECT id FROM request_log WHERE method = 'tools/call' ORDER BY id")).map(({ id }) => id);

async function restoreAs(name: string, ...from: readonly string[]): Promise<string> {
  const restored = await towpathWith(withPassphrase, "restore", ...from, "--data-dir", join(directory, name));
  expect(restored).toMatchObject({ status: 0 });
  instance = await startTowpath(join(directory, name), ports);
  return restored.stdout;
}

const buildCount = "SELECT count(*)::int AS builds FROM build";
const builds = isRoot ? 2 : 1;
let logged: readonly unknown[];

test("OPS-3 OPS-6 OPS-8 a running instance is backed up while it is called, and no call fails", async () => {
  expect(await call("greeting")).toBe("good morning");
  await expect.poll(callsLogged).toHaveLength(1);
  logged = await callsLogged();
  if (isRoot) expect(await call("kept")).toBe("x");
  const ended = new AbortController();
  const others: string[] = [];
  const calling = (async () => {
    while (!ended.signal.aborted) {
      const answer = await call("greeting").catch(String);
      if (answer !== "good morning") others.push(answer);
    }
  })();
  const of = ["--data-dir", instance.dataDirectory];
  const plain = await towpath("backup", file("plain.age"), "--recipient", publicKey, ...of);
  const layered = await towpathWith(withPassphrase, "backup", file("layered.age"), "--with-layers", ...of);
  ended.abort();
  await calling;
  expect([plain.status, layered.status, others]).toEqual([0, 0, []]);
  expect(plain.stdout).toContain("has 1 server: ");
  expect((await stat(file("layered.age"))).size).toBeGreaterThan((await stat(file("plain.age"))).size + 100_000);
  expect(await readFile(file("plain.age"), "latin1")).not.toContain("good morning");
}, 400_000);

test("OPS-6 OPS-8 verify says what a back-up has; without passphrase, with a wrong one or with half a file nothing begins", async () => {
  const verified = await towpathWith(withPassphrase, "backup", "verify", file("layered.age"));
  expect(verified.stdout).toMatch(/layered\.age is complete: 1 server, 1 repository, .*\d layers; made at .* by 0\./);
  const json = await towpath("backup", "verify", file("plain.age"), "--json", ...identity());
  expect(JSON.parse(json.stdout)).toMatchObject({ servers: 1, layers: false, count: { repository: 1 } });
  const of = ["--data-dir", join(directory, "refused")];
  const bare = await towpath("restore", file("plain.age"), ...of);
  expect([bare.status, bare.stderr]).toEqual([
    2,
    expect.stringContaining("needs a passphrase (--passphrase-file or TOWPATH_BACKUP_PASSPHRASE)"),
  ]);
  const unsealed = await towpath("backup", file("bare.age"), "--data-dir", instance.dataDirectory);
  expect([unsealed.status, unsealed.stderr]).toEqual([2, expect.stringContaining("needs a passphrase")]);
  const wrong = await towpathWith(
    { env: { TOWPATH_BACKUP_PASSPHRASE: "another passphrase" } },
    "restore",
    file("layered.age"),
    ...of,
  );
  expect([wrong.status, wrong.stderr]).toEqual([1, expect.stringContaining("This passphrase does not open")]);
  const whole = await readFile(file("plain.age"));
  await writeFile(file("half.age"), whole.subarray(0, whole.length / 2));
  const half = await towpath("restore", file("half.age"), ...identity(), ...of);
  expect([half.status, half.stderr]).toEqual([1, expect.stringContaining("is damaged or incomplete")]);
  const full = await towpath("restore", file("plain.age"), ...identity(), "--data-dir", instance.dataDirectory);
  expect([full.status, full.stderr]).toEqual([1, expect.stringContaining("is not empty")]);
  await expect(stat(join(directory, "refused"))).rejects.toThrow("ENOENT");
}, 400_000);

test("OPS-3 OPS-6 OPS-8 with the old directory gone, the restored instance answers with variable, data, key, session and logs", async () => {
  await instance.stop();
  await rm(instance.dataDirectory, { recursive: true });
  const printed = await restoreAs("new", file("layered.age"));
  expect(printed).toContain(`Start it: ./towpath up --data-dir ${join(directory, "new")}`);
  expect(await call("greeting")).toBe("good morning");
  expect(await call("greeting", "tp_unknown")).toBe("status 401");
  if (isRoot) expect(await call("kept")).toBe("xx");
  expect(await callsLogged()).toEqual(expect.arrayContaining([...logged]));
  const lines = await query("SELECT line FROM server_log WHERE line = 'ready to greet'");
  expect(lines.length).toBeGreaterThan(1);
  // Nothing was built again.
  expect(await query(buildCount)).toEqual([{ builds }]);
  await page.goto(`${instance.url}/local/servers/new`);
  await page.getByRole("heading", { level: 1 }).waitFor();
  expect(page.url()).toBe(`${instance.url}/local/servers/new`);
  // The repository is there, and takes pushes.
  const settings = await readFile(join(instance.dataDirectory, "settings.env"), "utf8");
  expect(settings).toContain(`TOWPATH_SERVER_URL='${instance.serversUrl}/{name}'`);
  expect(await pushUrlOf(instance, "greeter")).toContain("/git/");
}, 400_000);

test("OPS-3 OPS-8 a back-up without layers is restored, too: its server is built again with the versions that it had", async () => {
  await instance.stop();
  await restoreAs("built", file("plain.age"), ...identity());
  await expect.poll(() => call("greeting").catch(String), { timeout: 300_000 }).toBe("good morning");
  expect(await query(buildCount)).toEqual([{ builds: builds + 1 }]);
}, 400_000);

test("OPS-6 a stopped instance is backed up, too", async () => {
  await instance.stop();
  const made = await towpath(
    "backup",
    file("stopped.age"),
    "--recipient",
    publicKey,
    "--data-dir",
    instance.dataDirectory,
  );
  expect(made).toMatchObject({ status: 0 });
  expect((await towpath("backup", "verify", file("stopped.age"), ...identity())).status).toBe(0);
}, 400_000);
