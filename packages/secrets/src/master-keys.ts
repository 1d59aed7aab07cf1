import { setTimeout as sleep } from "node:timers/promises";
import { type MasterKeys, masterKeyOf, open, seal, WrongMasterKey } from "@towpath/crypto";
import { NewerSchema, requireKnownSchema } from "@towpath/db/release";

/** A pool or a connection of `pg`. */
export type Queryable = {
  query<Row extends Record<string, unknown>>(
    text: string,
    values?: unknown[],
  ): Promise<{ rows: Row[]; rowCount: number | null }>;
};

const proofText = "towpath";
const contextOf = (id: string) => JSON.stringify(["towpath/master-key/v1", id]);

/** Records that this database may be used with the current master key. */
export async function addMasterKey(db: Queryable, { current }: MasterKeys): Promise<void> {
  const proof = seal(current, proofText, contextOf(current.id));
  await db.query("INSERT INTO master_key (id, proof) VALUES ($1, $2) ON CONFLICT DO NOTHING", [current.id, proof]);
}

/**
 * Checks what every process needs of its database: that no newer release has migrated it, and that the configured keys
 * open its data. The first process at an empty database determines its key.
 *
 * @throws NewerSchema, and WrongMasterKey with the ids of the configured and the required key
 */
export async function checkDatabase(db: Queryable, keys: MasterKeys): Promise<void> {
  await requireKnownSchema(db);
  await compareKeys(db, keys);
  if ((await storedKeys(db)).length > 0) return;
  await addMasterKey(db, keys);
  // Another process may have been first.
  await compareKeys(db, keys);
}

/**
 * Whether the configured keys open a migrated database's data. Writes nothing: any key fits a database without data.
 *
 * @throws WrongMasterKey with the ids of the configured and the required key
 */
export async function compareKeys(db: Queryable, keys: MasterKeys): Promise<void> {
  await requireKeys(keys, await earlierKeys(db));
  const stored = await storedKeys(db);
  if (stored.length > 0) requireProof(keys, stored);
  const { rows } = await db.query<{ id: string }>(
    "SELECT DISTINCT jsonb_object_keys(wraps) AS id FROM data_key WHERE NOT wraps ?| $1",
    [keys.all.map(({ id }) => id)],
  );
  if (rows.length > 0)
    throw wrongKey(
      keys,
      rows.map(({ id }) => id),
    );
}

type StoredKey = { readonly id: string; readonly proof: string };

async function storedKeys(db: Queryable): Promise<readonly StoredKey[]> {
  return (await db.query<StoredKey>("SELECT id, proof FROM master_key ORDER BY created_at")).rows;
}

/** One of the configured keys is stored, and its proof opens. */
function requireProof(keys: MasterKeys, stored: readonly StoredKey[]): void {
  const usable = stored.find(({ id }) => keys.all.some((key) => key.id === id));
  const proof = usable && open(masterKeyOf(keys, usable.id), usable.proof, contextOf(usable.id));
  if (proof !== proofText)
    throw wrongKey(
      keys,
      stored.map(({ id }) => id),
    );
}

/** Ids of the master keys that sealed values before there were data keys. */
async function earlierKeys(db: Queryable): Promise<readonly string[]> {
  const { rows } = await db.query<{ id: string }>(
    "SELECT DISTINCT split_part(ciphertext, '.', 1) AS id FROM secret_version WHERE ciphertext NOT LIKE 'v2.%'",
  );
  return rows.map(({ id }) => id);
}

async function requireKeys(keys: MasterKeys, ids: readonly string[]): Promise<void> {
  const missing = ids.filter((id) => !keys.all.some((key) => key.id === id));
  if (missing.length > 0) throw wrongKey(keys, missing);
}

function wrongKey({ all }: MasterKeys, needed: readonly string[]): WrongMasterKey {
  const configured = all.map(({ id }) => id).join(", ");
  return new WrongMasterKey(
    `Stored secrets are sealed with key ${needed.join(" or ")}, but TOWPATH_SECRET gives key ${configured}. Set ` +
      "TOWPATH_SECRET to the value that this database was used with, or add that value to TOWPATH_PREVIOUS_SECRETS. " +
      'See "Keys" in docs/operating.md.',
  );
}

const retryMs = 5000;

/** No later try of `checkDatabase` would succeed. */
const isFinal = (error: unknown) => error instanceof WrongMasterKey || error instanceof NewerSchema;

/**
 * `checkDatabase` for a process that also starts without its database: resolves after the check, and after `withinMs`
 * at the latest. A later check that fails is passed to `onWrong`.
 *
 * @throws NewerSchema, WrongMasterKey
 */
export async function guardDatabase(
  db: Queryable,
  keys: MasterKeys,
  options: { readonly withinMs: number; readonly onWrong: (error: Error) => void },
): Promise<void> {
  const check = async (): Promise<void> => {
    try {
      await checkDatabase(db, keys);
    } catch (error) {
      if (isFinal(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, retryMs).unref());
      await check();
    }
  };
  const checked = check();
  let isStarted = false;
  checked.catch((error: Error) => isStarted && options.onWrong(error));
  // It keeps the process going, of which nothing else may be under way yet.
  const waiting = new AbortController();
  const waited = sleep(options.withinMs, undefined, { signal: waiting.signal }).catch(() => {});
  await Promise.race([checked, waited]).finally(() => waiting.abort());
  isStarted = true;
}
