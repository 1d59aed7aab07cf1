import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import type { Database } from "@towpath/db";
import { verification } from "@towpath/db/schema";
import { and, eq, gt } from "drizzle-orm";

/** Which secret of which session. `secret` is the instance's root secret: the key is derived from it. */
export type SessionSecretName = { readonly secret: string; readonly sessionId: string; readonly name: string };

/**
 * Keeps a short-lived secret of a session, for example a user's GitHub token, until `expiresAt` (GH-1). Stored
 * encrypted (AES-256-GCM) and bound to session and name, so a row moved to another session does not open.
 */
export async function storeSessionSecret(
  db: Database,
  call: SessionSecretName & { readonly newId: () => string; readonly value: string; readonly expiresAt: Date },
): Promise<void> {
  const nonce = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", keyOf(call.secret), nonce);
  cipher.setAAD(Buffer.from(identifierOf(call)));
  const sealed = Buffer.concat([cipher.update(call.value, "utf8"), cipher.final()]);
  const value = [nonce, sealed, cipher.getAuthTag()].map((part) => part.toString("base64url")).join(".");
  await db.transaction(async (tx) => {
    await tx.delete(verification).where(eq(verification.identifier, identifierOf(call)));
    await tx
      .insert(verification)
      .values({ id: call.newId(), identifier: identifierOf(call), value, expiresAt: call.expiresAt });
  });
}

/** The stored secret; null when there is none, it has expired, or it does not open. */
export async function readSessionSecret(db: Database, call: SessionSecretName): Promise<string | null> {
  const [row] = await db
    .select({ value: verification.value })
    .from(verification)
    .where(and(eq(verification.identifier, identifierOf(call)), gt(verification.expiresAt, new Date())));
  const [nonce, sealed, tag] = (row?.value ?? "").split(".").map((part) => Buffer.from(part, "base64url"));
  if (!nonce || !sealed || !tag) return null;
  try {
    const decipher = createDecipheriv("aes-256-gcm", keyOf(call.secret), nonce, { authTagLength: 16 });
    decipher.setAAD(Buffer.from(identifierOf(call)));
    decipher.setAuthTag(tag);
    return Buffer.concat([decipher.update(sealed), decipher.final()]).toString("utf8");
  } catch {
    return null;
  }
}

export async function deleteSessionSecret(db: Database, call: SessionSecretName): Promise<void> {
  await db.delete(verification).where(eq(verification.identifier, identifierOf(call)));
}

const identifierOf = ({ sessionId, name }: SessionSecretName) => `secret:${name}:${sessionId}`;

const keyOf = (secret: string) => Buffer.from(hkdfSync("sha256", secret, "", "towpath/session-secret/v1", 32));
