import { WrongMasterKey } from "@towpath/crypto";
import type { Database, Transaction } from "@towpath/db";
import { dataKey, masterKey } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import type { DataKey, SecretBox } from "./secret-box.ts";

type Owner = { readonly organizationId: string; readonly projectId: string };

/** A project's data key; null before its first variable. */
export async function findDataKey(db: Database | Transaction, projectId: string): Promise<DataKey | null> {
  const [found] = await db.select().from(dataKey).where(eq(dataKey.projectId, projectId));
  return found ?? null;
}

/**
 * A project's data key, created if there is none.
 *
 * @throws WrongMasterKey in a process that still has a replaced key: nobody could open what it seals
 */
export async function ensureDataKey(tx: Transaction, box: SecretBox, owner: Owner): Promise<DataKey> {
  const found = await findDataKey(tx, owner.projectId);
  if (found) return found;
  await requireValidMasterKey(tx, box);
  const id = crypto.randomUUID();
  await tx
    .insert(dataKey)
    .values(box.newDataKey({ ...owner, id }))
    .onConflictDoNothing();
  const created = await findDataKey(tx, owner.projectId);
  if (!created) throw new Error(`project ${owner.projectId} has no data key`);
  return created;
}

/**
 * Call it before a new key is sealed.
 *
 * @throws WrongMasterKey in a process that still has a replaced key: nobody could open what it seals
 */
export async function requireValidMasterKey(tx: Transaction, box: SecretBox): Promise<void> {
  const ids = box.masterKeys.all.map(({ id }) => id);
  // The lock delays the end of a rotation, which deletes rows, until the sealed data is visible.
  const valid = await tx.select().from(masterKey).for("share");
  if (valid.length > 0 && !valid.some(({ id }) => ids.includes(id)))
    throw new WrongMasterKey(`The key ${ids.join(" or ")} was replaced. Restart this process with the new one.`);
}
