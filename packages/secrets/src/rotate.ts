import type { Wraps } from "@towpath/crypto";
import type { DatabaseClient, Transaction } from "@towpath/db";
import { alertChannel, dataKey, githubConnection, masterKey, project, secret, secretVersion } from "@towpath/db/schema";
import { and, eq, isNotNull, ne, notLike, type SQL, sql } from "drizzle-orm";
import type { AnyPgColumn } from "drizzle-orm/pg-core";
import { rewrapChannel } from "./channel-secrets.ts";
import { rewrapConnection } from "./connection-secrets.ts";
import { ensureDataKey } from "./data-keys.ts";
import { addMasterKey, checkDatabase } from "./master-keys.ts";
import { isSealedByMasterKey, type SecretBox } from "./secret-box.ts";

const batchRows = 100;

/** Changed rows; work of an earlier run is not counted. */
type Rotated = {
  /** Data keys that were sealed with the current master key. */
  readonly dataKeys: number;
  /** Values that a master key itself had sealed, before there were data keys. */
  readonly values: number;
  /** Data keys from which the seals of earlier master keys were removed. */
  readonly stripped: number;
};

/**
 * Seals every data key with the current master key, in addition to the earlier ones: processes that have only an
 * earlier key keep working. Every batch is a transaction, so it can be killed at any time; another run continues.
 *
 * @throws WrongMasterKey when an earlier key is needed and not configured
 */
export async function rotateMasterKeys({ db, pool }: DatabaseClient, box: SecretBox): Promise<Rotated> {
  await checkDatabase(pool, box.masterKeys);
  await addMasterKey(pool, box.masterKeys);
  const values = await inBatches(() => db.transaction((tx) => convertValues(tx, box)));
  const dataKeys = await inBatches(() => db.transaction((tx) => addWraps(tx, box)));
  return { dataKeys, values, stripped: 0 };
}

/**
 * The same, and then makes the earlier master keys useless. Only for when no process needs one any more: those without
 * another key can't read variables from then on.
 *
 * @throws as `rotateMasterKeys`, and for a data key that the current master key doesn't open
 */
export async function finishRotation(client: DatabaseClient, box: SecretBox): Promise<Rotated> {
  const { db } = client;
  const before = await rotateMasterKeys(client, box);
  // First, no new data key gets only an earlier seal; then those that got one meanwhile are sealed again.
  await db.delete(masterKey).where(ne(masterKey.id, box.masterKeys.current.id));
  const since = await inBatches(() => db.transaction((tx) => addWraps(tx, box)));
  const stripped = await inBatches(() => db.transaction((tx) => removeWraps(tx, box)));
  return { ...before, dataKeys: before.dataKeys + since, stripped };
}

async function inBatches(run: () => Promise<number>): Promise<number> {
  let total = 0;
  for (let count = await run(); count > 0; count = await run()) total += count;
  return total;
}

type Keyed<Row extends { readonly id: string; readonly wraps: Wraps }> = {
  find(tx: Transaction, which: (wraps: AnyPgColumn) => SQL): Promise<readonly Row[]>;
  /** The row's key, sealed with the current master key too. */
  rewrap(box: SecretBox, row: Row): Wraps;
  store(tx: Transaction, id: string, wraps: Wraps): Promise<unknown>;
};

const dataKeys: Keyed<typeof dataKey.$inferSelect> = {
  find: (tx, which) => tx.select().from(dataKey).where(which(dataKey.wraps)).limit(batchRows).for("no key update"),
  rewrap: (box, row) => box.rewrap(row),
  store: (tx, id, wraps) => tx.update(dataKey).set({ wraps }).where(eq(dataKey.id, id)),
};

const connections: Keyed<typeof githubConnection.$inferSelect> = {
  find: (tx, which) =>
    tx.select().from(githubConnection).where(which(githubConnection.wraps)).limit(batchRows).for("no key update"),
  rewrap: rewrapConnection,
  store: (tx, id, wraps) => tx.update(githubConnection).set({ wraps }).where(eq(githubConnection.id, id)),
};

/** Those of webhooks; a channel that sends mail has none. */
const channels: Keyed<{ readonly id: string; readonly organizationId: string; readonly wraps: Wraps }> = {
  async find(tx, which) {
    const { id, organizationId, wraps } = alertChannel;
    const rows = await tx
      .select({ id, organizationId, wraps })
      .from(alertChannel)
      .where(and(isNotNull(wraps), which(wraps)))
      .limit(batchRows)
      .for("no key update");
    return rows.flatMap((row) => (row.wraps ? [{ ...row, wraps: row.wraps }] : []));
  },
  rewrap: rewrapChannel,
  store: (tx, id, wraps) => tx.update(alertChannel).set({ wraps }).where(eq(alertChannel.id, id)),
};

const addWraps = async (tx: Transaction, box: SecretBox) =>
  (await addWrapsOf(tx, box, dataKeys)) +
  (await addWrapsOf(tx, box, connections)) +
  (await addWrapsOf(tx, box, channels));

const removeWraps = async (tx: Transaction, box: SecretBox) =>
  (await removeWrapsOf(tx, box, dataKeys)) +
  (await removeWrapsOf(tx, box, connections)) +
  (await removeWrapsOf(tx, box, channels));

async function addWrapsOf<Row extends { readonly id: string; readonly wraps: Wraps }>(
  tx: Transaction,
  box: SecretBox,
  { find, rewrap, store }: Keyed<Row>,
): Promise<number> {
  const { id } = box.masterKeys.current;
  const rows = await find(tx, (wraps) => sql`NOT ${wraps} ? ${id}`);
  for (const row of rows) await store(tx, row.id, rewrap(box, row));
  return rows.length;
}

async function removeWrapsOf<Row extends { readonly id: string; readonly wraps: Wraps }>(
  tx: Transaction,
  box: SecretBox,
  { find, rewrap, store }: Keyed<Row>,
): Promise<number> {
  const { current } = box.masterKeys;
  const rows = await find(tx, (wraps) => sql`${wraps} - ${current.id}::text <> '{}'`);
  for (const row of rows) {
    const kept = row.wraps[current.id];
    if (kept === undefined) throw new Error(`data key ${row.id} is not sealed with key ${current.id}`);
    const wraps = { [current.id]: kept };
    // Proves that the remaining seal opens: the others are about to be removed.
    rewrap(box, { ...row, wraps });
    await store(tx, row.id, wraps);
  }
  return rows.length;
}

async function convertValues(tx: Transaction, box: SecretBox): Promise<number> {
  const rows = await tx
    .select({ kept: secretVersion, organizationId: project.organizationId })
    .from(secretVersion)
    .innerJoin(project, eq(project.id, secretVersion.projectId))
    .where(notLike(secretVersion.ciphertext, "v2.%"))
    .limit(batchRows)
    .for("no key update", { of: secretVersion });
  for (const { kept, organizationId } of rows) {
    if (!isSealedByMasterKey(kept.ciphertext)) continue;
    const binding = { ...kept, organizationId };
    const key = await ensureDataKey(tx, box, binding);
    const ciphertext = box.encrypt(box.decrypt(binding, null), key, binding);
    await tx.update(secretVersion).set({ ciphertext }).where(eq(secretVersion.id, kept.id));
    await tx
      .update(secret)
      .set({ ciphertext })
      .where(and(eq(secret.id, kept.secretId), eq(secret.version, kept.version)));
  }
  return rows.length;
}
