import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { newApiKey } from "@towpath/auth/credentials";
import { openDatabase } from "@towpath/db";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { operatorToken } from "../instance/operator.ts";
import { addMembership, addOwnPerson, type OwnPerson, organizationOf, restOf } from "../instance/own-people.ts";
import { plainRequirements, plainServer } from "../instance/plain-server.ts";
import { databaseUrlOf } from "../instance/processes.ts";
import { towpath } from "../instance/towpath-process.ts";

// Who tries to get at another person's value, and where one could be left lying.

const dataDirectory = inject("dataDirectory");
const { pool, close } = openDatabase(databaseUrlOf(dataDirectory), { maxConnections: 2 });
const name = `own-hostile-${process.pid}`;
const url = `${inject("serversUrl")}/${name}/mcp`;
const rest = restOf(inject("url"), name);
const keyName = "SERVICE_TOKEN";
const ofBuilds = "value-of-the-builds-4c1d";
const source = plainServer(
  {
    whoami: "token()",
    length: "str(len(token()))",
    printed: "print(token(), base64.b64encode(token().encode()), json.dumps({'t': token()})) or 'printed'",
    broken: "str(int(token()))",
    leaked: "'https://api.example/?key=' + token()",
  },
  `import base64
import os


def token():
    return os.environ["${keyName}"]
`,
);

import { isThorough } from "../thorough.ts";

let organizationId: string;
let operator: string;
let ada: OwnPerson;
let bob: OwnPerson;

async function deploy(code: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "towpath-own-hostile-"));
  await writeFile(join(directory, "requirements.txt"), plainRequirements);
  await writeFile(join(directory, "server.py"), code);
  const deployed = await towpath("deploy", directory, "--name", name, "--data-dir", dataDirectory);
  await rm(directory, { recursive: true });
  expect(deployed.stdout + deployed.stderr).toContain(`Live: ${url}`);
}

const setToken = (person: OwnPerson, value: string) =>
  rest(person.key, "PATCH", "/my-values", { values: [{ keyName, value }] });

/** Everything that the caller of a tool is answered. */
async function call(
  key: string,
  tool = "whoami",
  { args = {}, headers = {} }: { readonly args?: object; readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<string> {
  const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: tool, arguments: args } };
  const response = await fetch(url, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2025-11-25",
      ...headers,
    },
    body: JSON.stringify(message),
  });
  return `${response.status} ${await response.text()}`;
}

async function keyOf(owner: { readonly organizationId: string; readonly userId: string | null }): Promise<string> {
  const made = newApiKey();
  const row = [randomUUID(), made.hash, owner.organizationId, owner.userId];
  await pool.query("INSERT INTO apikey (id, key, reference_id, user_id, scope) VALUES ($1, $2, $3, $4, 'manage')", row);
  return made.key;
}

beforeAll(async () => {
  await deploy(source);
  organizationId = await organizationOf(pool, name);
  operator = await operatorToken({ dataDirectory });
  [ada, bob] = [await addOwnPerson(pool, organizationId), await addOwnPerson(pool, organizationId)];
  const secret = { keyName, secretValue: ofBuilds, perCaller: true };
  expect((await rest(operator, "POST", "/secrets", secret)).status).toBe(200);
  expect((await rest(operator, "PATCH", "", { capturePayloads: true })).status).toBe(200);
}, 200_000);
afterAll(close);

test("CAP-1 no other organization, key, header or name gets at a person's value", async () => {
  await setToken(ada, "token-of-ada-71f3");
  await expect.poll(() => call(ada.key), { timeout: 20_000 }).toContain("token-of-ada-71f3");
  const other = randomUUID();
  await pool.query("INSERT INTO organization (id, name, slug) VALUES ($1, 'Other', $2)", [other, `other-${other}`]);
  const mallory = await addOwnPerson(pool, other);
  const forged = {
    "towpath-user-id": ada.userId,
    "towpath-caller": ada.userId,
    "towpath-user": `user:${ada.userId}`,
    "x-towpath-user-id": ada.userId,
    "x-forwarded-user": ada.userId,
    "mcp-session-id": `${ada.userId}`,
  };
  const keys = [
    mallory.key,
    await keyOf({ organizationId, userId: null }),
    await keyOf({ organizationId: other, userId: ada.userId }),
    bob.key,
    operator,
    "tp_forged",
  ];
  for (const key of keys)
    for (const headers of [{}, forged]) {
      const answered = await call(key, "whoami", { headers });
      expect(answered).not.toMatch(/token-of-ada|value-of-the-builds/);
    }
  expect((await rest(mallory.key, "GET", "/my-values")).status).toBe(404);
  expect((await rest(operator, "GET", "/my-values")).status).toBe(403);
  expect((await rest(operator, "POST", "/my-values/check")).status).toBe(403);
});

test("CAP-1 who is removed from the organization and added again has no values, and no instance that has", async () => {
  const eve = await addOwnPerson(pool, organizationId);
  await setToken(eve, "token-of-eve-9a20");
  await expect.poll(() => call(eve.key), { timeout: 20_000 }).toContain("token-of-eve-9a20");
  await pool.query("DELETE FROM member WHERE user_id = $1", [eve.userId]);
  await expect.poll(() => call(eve.key), { timeout: 5000 }).not.toContain("token-of-eve");
  await addMembership(pool, organizationId, eve.userId);
  const again = await keyOf({ organizationId, userId: eve.userId });
  await expect.poll(() => call(again), { timeout: 20_000 }).toContain("/my-values/");
  // The earlier key ended with the membership.
  expect((await setToken({ ...eve, key: again }, "another-of-eve-55d1")).status).toBe(200);
  await expect.poll(() => call(again), { timeout: 20_000 }).toContain("another-of-eve-55d1");
});

test("CAP-1 any value that an environment can have arrives unchanged, and others are refused with the reason", async () => {
  expect((await setToken(bob, "a\u0000b")).status).toBe(422);
  expect((await setToken(bob, "x".repeat(65_537))).status).toBe(422);
  const lines = 'first line "of"\n$(second) \\n é 🚀\r\n third';
  await setToken(bob, lines);
  const answered = async () => JSON.parse((await call(bob.key)).replace(/^200 /, "")).result?.structuredContent?.result;
  await expect.poll(answered, { timeout: 20_000 }).toBe(lines);
  await setToken(bob, "y".repeat(65_536));
  await expect.poll(() => call(bob.key, "length"), { timeout: 20_000 }).toContain("65536");
  // Together they must fit into the environment of a process.
  for (const each of ["SECOND", "THIRD"])
    await rest(operator, "POST", "/secrets", { keyName: each, secretValue: "x", perCaller: true });
  const all = ["SECOND", "THIRD"].map((each) => ({ keyName: each, value: "z".repeat(60_000) }));
  const refused = await rest(bob.key, "PATCH", "/my-values", { values: all });
  expect(refused).toMatchObject({ status: 422 });
  expect(JSON.stringify(refused.body)).toContain("KiB together");
  for (const each of ["SECOND", "THIRD"]) await rest(operator, "DELETE", `/secrets/${each}`);
});

test.runIf(isThorough)(
  "CAP-1 a variable that becomes shared and per caller again, over a new version, gives each their own only",
  async () => {
    await setToken(ada, "token-of-ada-71f3");
    await setToken(bob, "token-of-bob-20c8");
    const answers = async () => [await call(ada.key), await call(bob.key)];
    await expect
      .poll(answers, { timeout: 20_000 })
      .toEqual([expect.stringContaining("token-of-ada-71f3"), expect.stringContaining("token-of-bob-20c8")]);
    await rest(operator, "PATCH", `/secrets/${keyName}`, { perCaller: false });
    await deploy(source.replace("Plain", "Plain again"));
    // What all share has the variable's own value, and nobody's.
    await expect
      .poll(answers, { timeout: 20_000 })
      .toEqual([expect.stringContaining(ofBuilds), expect.stringContaining(ofBuilds)]);
    await rest(operator, "PATCH", `/secrets/${keyName}`, { perCaller: true });
    await expect
      .poll(answers, { timeout: 20_000 })
      .toEqual([expect.stringContaining("token-of-ada-71f3"), expect.stringContaining("token-of-bob-20c8")]);
  },
);

/** Tables of the database with a row that has the text, in clear or as bytes. */
async function tablesWith(text: string): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
     WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
  );
  const found: string[] = [];
  for (const { name: table } of rows) {
    const sql = `SELECT FROM ${table} AS one WHERE position($1 IN one::text) > 0 OR position($2 IN one::text) > 0 LIMIT 1`;
    const { rowCount } = await pool.query(sql, [text, Buffer.from(text).toString("hex")]);
    if (rowCount) found.push(table);
  }
  return found;
}

test("CAP-1 a value is in no table and no file, also when its server prints, raises or answers it", async () => {
  const canary = `canary-${randomUUID().replaceAll("-", "")}`;
  await setToken(ada, canary);
  await expect.poll(() => call(ada.key), { timeout: 20_000 }).toContain(canary);
  for (const tool of ["printed", "broken", "leaked", canary]) await call(ada.key, tool, { args: { text: canary } });
  // Refused before its server is chosen, and with a name that nobody has.
  await call(ada.key, "whoami", { args: { text: canary }, headers: { "mcp-session-id": canary } });
  await call(ada.key, "whoami", { headers: { "user-agent": `agent/${canary}` } });
  const logged = async () =>
    (
      await pool.query(
        `SELECT count(*)::int AS n FROM request_log JOIN project ON project.id = project_id
         WHERE project.name = $1 AND principal = $2 AND request_payload::text LIKE '%[${keyName}]%'`,
        [name, `user:${ada.userId}`],
      )
    ).rows[0].n;
  await expect.poll(logged, { timeout: 20_000 }).toBeGreaterThanOrEqual(4);
  const printed = `SELECT FROM server_log JOIN project ON project.id = project_id WHERE project.name = $1 AND line LIKE '%[${keyName}]%'`;
  await expect.poll(async () => (await pool.query(printed, [name])).rowCount, { timeout: 20_000 }).toBeGreaterThan(0);
  expect(await tablesWith(canary)).toEqual([]);
  const grep = ["-rlaF", "--exclude-dir=postgres", canary, dataDirectory];
  // Status 1: nothing was found.
  await expect(promisify(execFile)("grep", grep)).rejects.toMatchObject({ code: 1, stdout: "" });
  for (const [key, path] of [
    [bob.key, "/my-values"],
    [operator, "/secrets"],
    [operator, "/status"],
  ] as const)
    expect(JSON.stringify(await rest(key, "GET", path))).not.toContain(canary);
});
