import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { newApiKey } from "@towpath/auth/credentials";
import { openDatabase } from "@towpath/db";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { operatorToken } from "../instance/operator.ts";
import { plainRequirements, plainServer } from "../instance/plain-server.ts";
import { databaseUrlOf } from "../instance/processes.ts";
import { towpath } from "../instance/towpath-process.ts";

// A server that reads one token from its environment and serves whoever that belongs to, unchanged.

const dataDirectory = inject("dataDirectory");
const { pool, close } = openDatabase(databaseUrlOf(dataDirectory), { maxConnections: 2 });
const name = `own-values-${process.pid}`;
const url = new URL(`${inject("serversUrl")}/${name}/mcp`);
const source = plainServer(
  { whoami: 'os.environ["SERVICE_TOKEN"]', process: "process" },
  "import os\nimport secrets\n\nprocess = secrets.token_hex(8)",
);

type Person = { readonly userId: string; readonly key: string };
let organizationId: string;
let ada: Person;
let bob: Person;

async function addPerson(): Promise<Person> {
  const [userId, made] = [randomUUID(), newApiKey()];
  await pool.query(`INSERT INTO "user" (id, name, email) VALUES ($1, 'Own', $2)`, [userId, `${userId}@example.com`]);
  await pool.query("INSERT INTO member (id, organization_id, user_id, role) VALUES ($1, $2, $3, 'member')", [
    randomUUID(),
    organizationId,
    userId,
  ]);
  await pool.query("INSERT INTO apikey (id, key, reference_id, user_id, scope) VALUES ($1, $2, $3, $4, 'manage')", [
    randomUUID(),
    made.hash,
    organizationId,
    userId,
  ]);
  return { userId, key: made.key };
}

async function rest(key: string, method: string, path: string, body?: unknown) {
  const response = await fetch(`${inject("url")}/api/v1/projects/${name}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

const setToken = (person: Person, value: string) =>
  rest(person.key, "PATCH", "/my-values", { values: [{ keyName: "SERVICE_TOKEN", value }] });

async function connected(key: string): Promise<LegacyClient> {
  const client = new LegacyClient({ name: "own-values", version: "1" });
  const headers = { authorization: `Bearer ${key}` };
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  return client;
}

const textOf = (result: Awaited<ReturnType<LegacyClient["callTool"]>>): string =>
  (result.content as { readonly text: string }[]).map(({ text }) => text).join("");

/** The text of a tool's answer, or of the reason why there is none. */
async function call(client: LegacyClient, tool = "whoami"): Promise<string> {
  return textOf(await client.callTool({ name: tool, arguments: {} }));
}

beforeAll(async () => {
  const directory = await mkdtemp(join(tmpdir(), "towpath-own-values-"));
  await writeFile(join(directory, "requirements.txt"), plainRequirements);
  await writeFile(join(directory, "server.py"), source);
  const deployed = await towpath("deploy", directory, "--name", name, "--data-dir", dataDirectory);
  await rm(directory, { recursive: true });
  expect(deployed.stdout + deployed.stderr).toContain(`Live: ${url}`);
  const { rows } = await pool.query("SELECT organization_id AS id FROM project WHERE name = $1", [name]);
  organizationId = rows[0].id;
  [ada, bob] = [await addPerson(), await addPerson()];
  const operator = await operatorToken({ dataDirectory });
  const secret = { keyName: "SERVICE_TOKEN", secretValue: "for-builds-only", perCaller: true };
  expect((await rest(operator, "POST", "/secrets", secret)).status).toBe(200);
}, 200_000);
afterAll(close);

test("CAP-1 a person without a value lists the tools, and a call says where to enter it", async () => {
  const client = await connected(ada.key);
  expect((await client.listTools()).tools.map((tool) => tool.name)).toEqual(["whoami", "process"]);
  const address = new RegExp(`${inject("url")}/my-values/[0-9a-f-]{36}`);
  const result = await client.callTool({ name: "whoami", arguments: {} });
  expect(result.isError).toBe(true);
  expect(textOf(result)).toMatch(address);
  expect(textOf(result)).toContain("SERVICE_TOKEN");
  // The same session goes on once the value is there.
  expect((await setToken(ada, "token-of-ada")).body).toMatchObject({
    values: [{ keyName: "SERVICE_TOKEN", setAt: expect.any(String) }],
  });
  expect(await call(client)).toBe("token-of-ada");
});

test("CAP-1 each person is served by an instance of their own with their own value, however calls mix", async () => {
  await setToken(ada, "token-of-ada");
  await setToken(bob, "token-of-bob");
  const [ofAda, ofBob] = await Promise.all([connected(ada.key), connected(bob.key)]);
  const answers = await Promise.all(
    Array.from({ length: 60 }, async (_, index) => {
      const [client, expected] = index % 2 ? [ofAda, "token-of-ada"] : [ofBob, "token-of-bob"];
      return (await call(client)) === expected;
    }),
  );
  expect(answers).toEqual(answers.map(() => true));
  expect(await call(ofAda, "process")).not.toBe(await call(ofBob, "process"));
  // Each start with a person's values is audited.
  const decrypted = `SELECT DISTINCT detail ->> 'caller' AS caller FROM audit_log JOIN project ON project.id = project_id
    WHERE action = 'secret.decrypt' AND detail ->> 'reason' = 'start' AND actor = 'job:runner' AND name = $1`;
  const audited = async () => (await pool.query(decrypted, [name])).rows.map(({ caller }) => caller);
  await expect.poll(audited, { timeout: 10_000 }).toEqual(expect.arrayContaining([ada.userId, bob.userId]));
  // Neither the owner's lists nor the database have it in clear.
  const { rows } = await pool.query("SELECT ciphertext FROM caller_value WHERE user_id = $1", [ada.userId]);
  expect(JSON.stringify(rows)).not.toContain("token-of-ada");
  expect(JSON.stringify((await rest(ada.key, "GET", "/my-values")).body)).not.toContain("token-of");
  expect(JSON.stringify((await rest(bob.key, "GET", "/secrets")).body)).not.toContain("token-of");
});

test("CAP-1 a replaced value serves the next call, and after a deletion the next call is refused within a second", async () => {
  await setToken(ada, "token-of-ada");
  await setToken(bob, "token-of-bob");
  const [ofAda, ofBob] = await Promise.all([connected(ada.key), connected(bob.key)]);
  expect(await call(ofAda)).toBe("token-of-ada");
  await setToken(ada, "newer-of-ada");
  await expect.poll(async () => call(await connected(ada.key)), { timeout: 20_000 }).toBe("newer-of-ada");
  expect((await rest(ada.key, "DELETE", "/my-values/SERVICE_TOKEN")).status).toBe(200);
  const deletedAt = performance.now();
  await expect.poll(async () => call(await connected(ada.key)), { timeout: 5000 }).toContain("/my-values/");
  // The promised second, not what this machine takes.
  expect(performance.now() - deletedAt).toBeLessThan(1000);
  expect(await call(ofBob)).toBe("token-of-bob");
});

test("CAP-1 keys of the organization have no values, and a server's owner can't read a person's", async () => {
  const made = newApiKey();
  const values = [randomUUID(), made.hash, organizationId];
  await pool.query("INSERT INTO apikey (id, key, reference_id, scope) VALUES ($1, $2, $3, 'manage')", values);
  const client = await connected(made.key);
  await expect(client.callTool({ name: "whoami", arguments: {} })).rejects.toThrow("Sign in as a person");
  expect((await rest(made.key, "GET", "/my-values")).status).toBe(403);
  expect((await rest(bob.key, "PATCH", "/my-values", { values: [{ keyName: "OTHER", value: "x" }] })).status).toBe(422);
});
