import { deriveKey, type RootSecrets, sha256 } from "@towpath/crypto";
import type { Database } from "@towpath/db";
import { twoFactor } from "@towpath/db/schema";
import { parseEnvelope, symmetricDecrypt, symmetricEncrypt } from "better-auth/crypto";
import { and, eq } from "drizzle-orm";

/** Better-auth's key settings: it signs with the current one and still reads data encrypted with earlier ones. */
export function authSecrets(secrets: RootSecrets) {
  const keys = keysOf(secrets);
  return { secret: keys[0]?.value ?? "", secrets: keys };
}

/** A key's version must be a number that later secrets don't change, so it is part of its hash. */
function keysOf({ current, previous }: RootSecrets): { version: number; value: string }[] {
  return [current, ...previous].map((secret) => {
    const value = Buffer.from(deriveKey(secret, "session").bytes).toString("base64url");
    return { version: Number.parseInt(sha256(value, "hex").slice(0, 7), 16), value };
  });
}

/**
 * Encrypts the data of second factors with the current secret, before the earlier ones are removed. It may be run again
 * at any time.
 *
 * @returns the number of people whose data changed
 */
export async function reencryptTwoFactors(db: Database, secrets: RootSecrets): Promise<number> {
  const keys = keysOf(secrets);
  const [current] = keys;
  if (!current) return 0;
  const key = { keys: new Map(keys.map(({ version, value }) => [version, value])), currentVersion: current.version };
  const renew = async (data: string) => symmetricEncrypt({ key, data: await symmetricDecrypt({ key, data }) });
  let changed = 0;
  for (const row of await db.select().from(twoFactor)) {
    if (parseEnvelope(row.secret)?.version === current.version && isCurrent(row.backupCodes, current.version)) continue;
    const renewed = { secret: await renew(row.secret), backupCodes: await renew(row.backupCodes) };
    // Unless a recovery code was used meanwhile; then the next run changes it.
    const same = and(eq(twoFactor.id, row.id), eq(twoFactor.backupCodes, row.backupCodes));
    changed += (await db.update(twoFactor).set(renewed).where(same).returning({ id: twoFactor.id })).length;
  }
  return changed;
}

const isCurrent = (data: string, version: number) => parseEnvelope(data)?.version === version;
