import type { Database, Transaction } from "@towpath/db";
import { secret } from "@towpath/db/schema";
import { and, arrayContains, eq } from "drizzle-orm";
import type { Context } from "../context/index.ts";
import { TowpathError } from "../errors/index.ts";
import { newId } from "../ids/index.ts";
import type { SecretBox } from "../secret-box/index.ts";
import { type SecretEnvironment, secretEnvironments } from "./secret.schema.ts";

/** @throws TowpathError `not_configured` in a process without the instance's key */
export function requireSecretBox(ctx: Context): SecretBox {
  if (ctx.secrets) return ctx.secrets;
  throw new TowpathError("not_configured", "This part of Towpath cannot handle secrets.");
}

export function secretView(row: typeof secret.$inferSelect): SecretView {
  const environments = secretEnvironments.filter((each) => row.environments.includes(each));
  return { id: row.id, keyName: row.keyName, environments, updatedAt: row.updatedAt.toISOString() };
}

/** Stores the initial secrets of a new project. */
export async function insertSecrets(
  tx: Transaction,
  ctx: Context,
  projectId: string,
  values: readonly { readonly keyName: string; readonly secretValue: string }[],
): Promise<void> {
  if (values.length === 0) return;
  const box = requireSecretBox(ctx);
  const now = ctx.clock.now();
  await tx.insert(secret).values(
    values.map(({ keyName, secretValue }) => {
      const binding = { projectId, keyName, version: 1, environments: ["production", "preview"] };
      const ciphertext = box.encrypt(secretValue, binding);
      return { ...binding, id: newId(), ciphertext, sensitive: true, createdAt: now, updatedAt: now };
    }),
  );
}

export function listSecretRows(db: Database | Transaction, projectId: string, environment: "production" | "preview") {
  return db
    .select()
    .from(secret)
    .where(and(eq(secret.projectId, projectId), arrayContains(secret.environments, [environment])));
}

/** A secret without its value, which only processes that start servers get (KEY-1). */
export type SecretView = {
  readonly id: string;
  readonly keyName: string;
  readonly environments: readonly SecretEnvironment[];
  readonly updatedAt: string;
};
