import { openDatabase } from "@towpath/db";
import {
  alertChannel,
  dataKey,
  githubConnection,
  masterKey,
  organization,
  project,
  secret,
  secretVersion,
} from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import { eq } from "drizzle-orm";
import { beforeEach, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import {
  checkDatabase,
  createSecretBox,
  ensureDataKey,
  findDataKey,
  finishRotation,
  guardDatabase,
  openChannel,
  openConnection,
  rotateMasterKeys,
  type SecretBox,
  sealChannel,
  sealConnection,
} from "./index.ts";

const [first, second, foreign] = ["first", "second", "foreign"].map(
  (name) => `the ${name} secret, of 32 characters`,
) as [string, string, string];
const boxOf = (current: string, ...previous: string[]) => createSecretBox({ current, previous });
/** A process before, during and after a rotation. */
const [old, rotating, renewed] = [boxOf(first), boxOf(second, first), boxOf(second)] as [
  SecretBox,
  SecretBox,
  SecretBox,
];

const database = openTestDatabase({ fresh: true });
let organizationId: string;
beforeEach(async () => {
  organizationId = crypto.randomUUID();
  await database.db.insert(organization).values({ id: organizationId, slug: "acme", name: "Acme" });
});

const check = (box: SecretBox) => checkDatabase(database.pool, box.masterKeys);
const client = () => ({ db: database.db, pool: database.pool, close: async () => {} });

/** A project with one variable, written by a process with these keys; `read` reads it with others. */
async function seedVariable(box: SecretBox, value: string) {
  const projectId = crypto.randomUUID();
  const owner = { organizationId, projectId };
  const binding = { keyName: "KEY", version: 1, environments: ["production"], secretId: crypto.randomUUID(), ...owner };
  await database.db
    .insert(project)
    .values({ id: projectId, organizationId, name: `p-${projectId}`, entrypoint: "a.py" });
  await database.db.transaction(async (tx) => {
    const ciphertext = box.encrypt(value, await ensureDataKey(tx, box, owner), binding);
    await tx.insert(secret).values({ ...binding, id: binding.secretId, ciphertext });
  });
  return async (reader: SecretBox) => {
    const [row] = await database.db.select().from(secretVersion).where(eq(secretVersion.projectId, projectId));
    return reader.decrypt({ ...binding, ciphertext: row?.ciphertext ?? "" }, await findDataKey(database.db, projectId));
  };
}

test("KEY-2 a process with another key than the data's refuses to start and names both", async () => {
  await check(old);
  await check(old);
  await seedVariable(old, "value");
  const ids = { stored: old.masterKeys.current.id, given: renewed.masterKeys.current.id };
  await expect(check(renewed)).rejects.toThrow(
    `sealed with key ${ids.stored}, but TOWPATH_SECRET gives key ${ids.given}.`,
  );
  await expect(check(boxOf(foreign, second))).rejects.toMatchObject({ name: "WrongMasterKey" });
  await check(rotating);
});

test("KEY-2 a missing earlier key is noticed at the start, also for values from before there were data keys", async () => {
  await check(old);
  const read = await seedVariable(old, "value");
  await database.db.update(secret).set({ ciphertext: "DNoD-0N5.n.c.t" });
  await expect(check(old)).rejects.toThrow("sealed with key DNoD-0N5");
  await expect(read(old)).rejects.toThrow("DNoD-0N5");
});

test("KEY-2 a proof that was made with another key of the same id is no proof", async () => {
  await check(old);
  await database.db.update(masterKey).set({ proof: "AAAAAAAAAAAAAAAA.AAAA.AAAAAAAAAAAAAAAAAAAAAA" });
  await expect(check(old)).rejects.toThrow();
});

test("KEY-2 a master key is replaced while processes with the earlier and with the new one read and write", async () => {
  await check(old);
  const reads = [await seedVariable(old, "before"), await seedVariable(old, "before too")];
  // New processes come first, then the rotation.
  await check(rotating);
  reads.push(await seedVariable(rotating, "by the new"), await seedVariable(old, "by the old"));
  const readAll = async (box: SecretBox) => Promise.all(reads.map((read) => read(box)));
  const all = ["before", "before too", "by the new", "by the old"];
  expect(await readAll(old)).toEqual(all);
  expect(await readAll(rotating)).toEqual(all);
  expect(await rotateMasterKeys(client(), rotating)).toMatchObject({ dataKeys: 3, stripped: 0 });
  for (const box of [old, rotating, renewed]) expect(await readAll(box)).toEqual(all);
  await Promise.all([old, rotating, renewed].map(check));
  expect(await rotateMasterKeys(client(), renewed)).toMatchObject({ dataKeys: 0 });

  expect(await finishRotation(client(), renewed)).toMatchObject({ dataKeys: 0, stripped: 4 });
  expect(await readAll(renewed)).toEqual(all);
  await expect(readAll(old)).rejects.toThrow("another key");
  await expect(check(old)).rejects.toThrow("TOWPATH_SECRET gives key");
  // It still runs, but seals nothing that nobody can open.
  await expect(seedVariable(old, "late")).rejects.toThrow("Restart this process with the new one.");
});

test.runIf(isThorough)("KEY-2 a rotation that is killed half-way is continued from any batch", async () => {
  await check(old);
  const reads = await Promise.all(Array.from({ length: 230 }, (_, index) => seedVariable(old, `value ${index}`)));
  const { db } = database;
  /** Ends, like a killed process, before the transaction of that number is committed. */
  const killedAt = (count: number) => {
    let left = count;
    return {
      ...client(),
      db: new Proxy(db, {
        get: (target, name) =>
          name === "transaction"
            ? (work: Parameters<typeof db.transaction>[0]) =>
                target.transaction(async (tx) => {
                  const result = await work(tx);
                  left -= 1;
                  if (left === 0) throw new Error("killed");
                  return result;
                })
            : Reflect.get(target, name, target),
      }),
    };
  };
  const wrapped = async () =>
    (await db.select().from(dataKey)).filter(({ wraps }) => Object.keys(wraps).length === 2).length;
  await expect(rotateMasterKeys(killedAt(3), rotating)).rejects.toThrow("killed");
  expect(await wrapped()).toBe(100);
  for (const box of [old, rotating]) expect(await reads[0]?.(box)).toBe("value 0");
  for (const box of [old, rotating]) expect(await reads[229]?.(box)).toBe("value 229");
  expect(await rotateMasterKeys(client(), rotating)).toMatchObject({ dataKeys: 130 });
  await expect(finishRotation(killedAt(5), rotating)).rejects.toThrow("killed");
  expect(await wrapped()).toBe(130);
  await check(renewed);
  expect(await finishRotation(client(), renewed)).toMatchObject({ stripped: 130 });
  expect(await Promise.all(reads.map((read) => read(renewed)))).toEqual(reads.map((_, index) => `value ${index}`));
});

test("KEY-2 values from before there were data keys get one, in the variable and in its kept versions", async () => {
  const earlier = "a root secret for tests, of 32 characters or more";
  const projectId = "0192a000-0000-7000-8000-000000000001";
  await database.db.insert(project).values({ id: projectId, organizationId, name: "earlier", entrypoint: "a.py" });
  const ciphertext = "DNoD-0N5.bfDvtwi5c-EwTkjJ.sAr7o1ghmFwGE9e7.YN9eKGILQXTUoKxCWuBu7A";
  const row = { projectId, keyName: "API_KEY", version: 3, environments: ["production", "preview"], ciphertext };
  await database.db.insert(secret).values({ ...row, id: crypto.randomUUID() });
  const box = boxOf(second, earlier);
  await check(box);
  expect(await rotateMasterKeys(client(), box)).toMatchObject({ values: 1 });
  const [now] = await database.db.select().from(secret);
  const [kept] = await database.db.select().from(secretVersion);
  expect(kept?.ciphertext).toBe(now?.ciphertext);
  const binding = { ...row, organizationId, secretId: now?.id ?? "", ciphertext: now?.ciphertext ?? "" };
  expect(box.decrypt(binding, await findDataKey(database.db, projectId))).toBe("sunny-secret");
});

test.runIf(isThorough)(
  "KEY-2 a process that starts without its database checks the key as soon as it is back",
  async () => {
    await check(old);
    const wrong: Error[] = [];
    const options = { withinMs: 20, onWrong: (error: Error) => wrong.push(error) };
    await expect(guardDatabase(database.pool, renewed.masterKeys, { ...options, withinMs: 5000 })).rejects.toThrow();
    await database.pool.query(
      "INSERT INTO drizzle.__drizzle_migrations (hash, created_at) SELECT 'x', max(created_at) + 1 FROM drizzle.__drizzle_migrations",
    );
    await expect(guardDatabase(database.pool, old.masterKeys, { ...options, withinMs: 5000 })).rejects.toThrow(
      "newer release",
    );
    await expect(check(old)).rejects.toThrow("newer release");
    await database.pool.query("DELETE FROM drizzle.__drizzle_migrations WHERE hash = 'x'");
    const unreachable = openDatabase("postgresql://localhost:1/none");
    await guardDatabase(unreachable.pool, old.masterKeys, options);
    await unreachable.close();
    let fails = true;
    const flaky = {
      query: (...call: Parameters<typeof database.pool.query>) =>
        fails ? Promise.reject(new Error("unavailable")) : database.pool.query(...call),
    } as unknown as Parameters<typeof guardDatabase>[0];
    await guardDatabase(flaky, renewed.masterKeys, options);
    expect(wrong).toEqual([]);
    fails = false;
    await expect.poll(() => wrong.map(({ name }) => name)).toEqual(["WrongMasterKey"]);
  },
);

test("GH-5 keys of a GitHub connection open for its row, App, host and version only, and after a rotation", async () => {
  const app = { url: "https://github.com", apiUrl: "https://api.github.com", appId: "7", version: 1 };
  const binding = { id: crypto.randomUUID(), ...app };
  await database.db.transaction(async (tx) => {
    const sealed = await sealConnection(tx, old, binding, "a private key");
    const more = { appSlug: "towpath", clientId: "Iv1", ownerLogin: "acme" };
    await tx.insert(githubConnection).values({ ...binding, ...more, ...sealed });
  });
  const stored = async () => {
    const [row] = await database.db.select().from(githubConnection);
    if (!row) throw new Error("there is no connection");
    return row;
  };
  const row = await stored();
  expect(JSON.stringify(row)).not.toContain("a private key");
  expect(openConnection(old, row)).toBe("a private key");
  for (const other of [{ id: crypto.randomUUID() }, { apiUrl: "https://ghe.example/api/v3" }, { appId: "8" }])
    expect(() => openConnection(old, { ...row, ...other })).toThrow();
  expect(() => openConnection(old, { ...row, version: 2 })).toThrow();
  expect(() => openConnection(renewed, row)).toThrow("another key");
  await rotateMasterKeys(client(), rotating);
  for (const box of [old, rotating, renewed]) expect(openConnection(box, await stored())).toBe("a private key");
  await finishRotation(client(), rotating);
  expect(openConnection(renewed, await stored())).toBe("a private key");
  const last = await stored();
  expect(() => openConnection(old, last)).toThrow("another key");
});

test("CAP-6 address and secret of an alert channel open in its row and organization only, and after a rotation", async () => {
  const { rows } = await client().pool.query<{ id: string }>(
    "INSERT INTO organization (id, name, slug) VALUES (gen_random_uuid(), 'Acme', 'acme-alerts') RETURNING id",
  );
  const binding = { id: crypto.randomUUID(), organizationId: rows[0]?.id ?? "" };
  await database.db.transaction(async (tx) => {
    const sealed = await sealChannel(tx, old, binding, "an address");
    const rest = { name: "A", format: "slack", host: "a.test", events: ["error.new"] };
    await tx.insert(alertChannel).values({ ...binding, ...rest, ...sealed });
  });
  const stored = async () => {
    const [row] = await database.db.select().from(alertChannel);
    if (!row?.wraps || !row.sealed) throw new Error("there is no channel");
    return { ...row, wraps: row.wraps, sealed: row.sealed };
  };
  const row = await stored();
  expect(JSON.stringify(row)).not.toContain("an address");
  for (const other of [{ id: crypto.randomUUID() }, { organizationId: crypto.randomUUID() }])
    expect(() => openChannel(old, { ...row, ...other })).toThrow();
  await rotateMasterKeys(client(), rotating);
  for (const box of [old, rotating, renewed]) expect(openChannel(box, await stored())).toBe("an address");
  await finishRotation(client(), rotating);
  expect(openChannel(renewed, await stored())).toBe("an address");
  const last = await stored();
  expect(() => openChannel(old, last)).toThrow("another key");
});
