import { deriveKey, open, seal } from "@towpath/crypto";
import type { Database } from "@towpath/db";
import { verification } from "@towpath/db/schema";
import { and, eq, gt } from "drizzle-orm";

/** A session's secret by name. `secret`: the instance's root secret, from which the key is derived. */
export type SessionSecretName = { readonly secret: string; readonly sessionId: string; readonly name: string };

/**
 * Stores a short-lived secret of a session, such as a user's GitHub token, until `expiresAt` (GH-1). It is encrypted
 * (AES-256-GCM) and bound to session and name: copied to another session's row it can't be decrypted.
 */
export async function storeSessionSecret(
  db: Database,
  call: SessionSecretName & { readonly newId: () => string; readonly value: string; readonly expiresAt: Date },
): Promise<void> {
  const value = seal(keyOf(call.secret), call.value, identifierOf(call));
  await db.transaction(async (tx) => {
    await tx.delete(verification).where(eq(verification.identifier, identifierOf(call)));
    await tx
      .insert(verification)
      .values({ id: call.newId(), identifier: identifierOf(call), value, expiresAt: call.expiresAt });
  });
}

/** The stored secret; null when there is none, it has expired, or it can't be decrypted. */
export async function readSessionSecret(db: Database, call: SessionSecretName): Promise<string | null> {
  const [row] = await db
    .select({ value: verification.value })
    .from(verification)
    .where(and(eq(verification.identifier, identifierOf(call)), gt(verification.expiresAt, new Date())));
  if (!row) return null;
  try {
    return open(keyOf(call.secret), row.value, identifierOf(call));
  } catch {
    return null;
  }
}

export async function deleteSessionSecret(db: Database, call: SessionSecretName): Promise<void> {
  await db.delete(verification).where(eq(verification.identifier, identifierOf(call)));
}

const identifierOf = ({ sessionId, name }: SessionSecretName) => `secret:${name}:${sessionId}`;

const keyOf = (secret: string) => deriveKey(secret, "session-secret");
