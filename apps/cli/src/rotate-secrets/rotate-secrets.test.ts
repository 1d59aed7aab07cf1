import { readFile, rm, utimes, writeFile } from "node:fs/promises";
import { dataKey, masterKey, organization, project } from "@towpath/db/schema";
import { createTestDatabase, type TestDatabase } from "@towpath/db/testing";
import { shortDirectory } from "@towpath/runtime/testing";
import { checkDatabase, createSecretBox, ensureDataKey } from "@towpath/secrets";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openDataDirectory, startTimeOf } from "../instance/instance.ts";
import { collectPrinted, type Printed } from "../testing/printed.ts";
import { rotateSecrets } from "./rotate-secrets.ts";

let directory = "";
let database: TestDatabase;
let printed: Printed;
beforeEach(async () => {
  directory = await shortDirectory();
  database = await createTestDatabase();
  vi.stubEnv("TOWPATH_SECRET", "");
  vi.stubEnv("DATABASE_URL", "");
  printed = collectPrinted();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await database.close();
  await rm(directory, { recursive: true, force: true });
});

/** Marks the instance as running, like `up` when it is ready, `agoMs` before now. */
async function markRunningSince(agoMs: number, databaseUrl: string | null = database.url) {
  const addresses = { url: "http://localhost:3000", serverUrl: "http://localhost:8080/{name}" };
  const mark = { pid: process.pid, startTime: startTimeOf(process.pid), ...addresses, databaseUrl };
  await writeFile(`${directory}/running.json`, JSON.stringify(mark));
  const at = (Date.now() - agoMs) / 1000;
  await utimes(`${directory}/running.json`, at, at);
}

/** A project whose variables were encrypted with these secrets. */
async function seedDataKey(secrets: { current: string; previous: readonly string[] }) {
  const box = createSecretBox(secrets);
  await checkDatabase(database.pool, box.masterKeys);
  const organizationId = crypto.randomUUID();
  const projectId = crypto.randomUUID();
  await database.db.insert(organization).values({ id: organizationId, slug: "acme", name: "Acme" });
  await database.db.insert(project).values({ id: projectId, organizationId, name: "sunny-days", entrypoint: "a.py" });
  await database.db.transaction((tx) => ensureDataKey(tx, box, { organizationId, projectId }));
  return box.masterKeys.current.id;
}

const rotate = (...args: string[]) => rotateSecrets(["--data-dir", directory, ...args]);
const identity = async () => JSON.parse(await readFile(`${directory}/instance.json`, "utf8"));
const sealedWith = async () => Object.keys((await database.db.select().from(dataKey))[0]?.wraps ?? {}).sort();

test("KEY-2 a local instance gets a new secret in two steps, which may be repeated", async () => {
  const { secret } = await openDataDirectory(directory);
  const first = await seedDataKey({ current: secret, previous: [] });
  await expect(rotate()).rejects.toThrow("No Towpath runs on the data directory");
  await markRunningSince(10_000, null);
  await expect(rotate()).rejects.toThrow("with the PostgreSQL that its DATABASE_URL names. Set DATABASE_URL for this");
  await markRunningSince(10_000);
  await expect(rotate("--finish")).rejects.toThrow("No secret is being replaced. Begin with ./towpath rotate-secrets.");
  expect(await rotate()).toBe(0);
  const changed = await identity();
  expect(changed).toMatchObject({ previousSecrets: [secret] });
  expect(changed.secret).not.toBe(secret);
  const second = createSecretBox({ current: changed.secret, previous: [] }).masterKeys.current.id;
  expect(printed.text).toContain(`1 data keys are now encrypted with key ${second} too.`);
  expect(await sealedWith()).toEqual([first, second].sort());
  await rotate();
  expect(await identity()).toEqual(changed);

  await expect(rotate("--finish")).rejects.toThrow("Towpath still runs with the earlier secret.");
  await markRunningSince(-1000);
  await rotate("--finish");
  expect(await identity()).toEqual({ ...changed, previousSecrets: [] });
  expect(await sealedWith()).toEqual([second]);
  expect((await database.db.select().from(masterKey)).map(({ id }) => id)).toEqual([second]);
  expect(printed.text).toContain(`Only key ${second} opens stored secrets now`);
});

test("KEY-2 for processes with settings of their own, their secrets and database are taken; a wrong one is refused", async () => {
  const [current, earlier] = ["a new secret of at least 32 characters", "an earlier secret of 32 characters"];
  const first = await seedDataKey({ current: earlier as string, previous: [] });
  vi.stubEnv("TOWPATH_SECRET", current);
  await expect(rotateSecrets([])).rejects.toThrow("DATABASE_URL is not");
  vi.stubEnv("DATABASE_URL", database.url);
  await expect(rotateSecrets([])).rejects.toThrow(`sealed with key ${first}`);
  vi.stubEnv("TOWPATH_PREVIOUS_SECRETS", ` ${earlier}, `);
  await rotateSecrets([]);
  expect(await sealedWith()).toHaveLength(2);
  await rotateSecrets(["--finish"]);
  expect(await sealedWith()).not.toContain(first);
});
