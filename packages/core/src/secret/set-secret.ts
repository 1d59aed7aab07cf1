import type { Transaction } from "@towpath/db";
import { project, secret } from "@towpath/db/schema";
import { and, count, eq } from "drizzle-orm";
import type { z } from "zod";
import { audit } from "../audit/index.ts";
import { authorizeProject, type ProjectAccess } from "../authorize/index.ts";
import type { Context } from "../context/index.ts";
import { notFound, TowpathError } from "../errors/index.ts";
import { newId } from "../ids/index.ts";
import { parseInput } from "../input/index.ts";
import type { SecretBox } from "../secret-box/index.ts";
import {
  maxSecrets,
  type SetSecretInput,
  type SetSecretsInput,
  secretEnvironments,
  setSecretSchema,
  setSecretsSchema,
} from "./secret.schema.ts";
import type { SecretView } from "./secret.store.ts";
import { requireSecretBox, secretView } from "./secret.store.ts";

/**
 * Creates a secret, or replaces the value of an existing one (KEY-1). See `setSecrets`.
 *
 * @throws TowpathError `invalid_input` for VAL-4, and for more secrets than a project may have
 */
export async function setSecret(call: { ctx: Context; input: SetSecretInput }): Promise<SecretView> {
  const access = await authorizeProject(call.ctx, "secret.manage", {
    orgSlug: call.input.orgSlug,
    projectName: call.input.projectName,
  });
  const [view] = await storeSecrets(call.ctx, access, [parseInput(setSecretSchema, call.input)]);
  if (!view) throw new TowpathError("internal", "The variable could not be stored.");
  return view;
}

/**
 * Creates or replaces several secrets of a project, all or none (KEY-1). An existing secret keeps its environments
 * unless others are given. Each change increments the version, to which the ciphertext is bound (KEY-2), and has its
 * own audit entry. Servers get the new values at their next start.
 *
 * @throws TowpathError `invalid_input` for VAL-4, a duplicate name, and more secrets than a project may have
 */
export async function setSecrets(call: { ctx: Context; input: SetSecretsInput }): Promise<readonly SecretView[]> {
  const access = await authorizeProject(call.ctx, "secret.manage", {
    orgSlug: call.input.orgSlug,
    projectName: call.input.projectName,
  });
  return storeSecrets(call.ctx, access, parseInput(setSecretsSchema, call.input).secrets);
}

type NewValue = z.output<typeof setSecretSchema>;

function storeSecrets(
  ctx: Context,
  { project: owner, organization }: ProjectAccess,
  values: readonly NewValue[],
): Promise<readonly SecretView[]> {
  const box = requireSecretBox(ctx);
  return ctx.db.transaction(async (tx) => {
    await lockProject(tx, owner.id);
    const views: SecretView[] = [];
    for (const value of values) {
      const { row, isNew } = await storeSecret(tx, { projectId: owner.id, value, box, now: ctx.clock.now() });
      await audit(tx, ctx, {
        organizationId: organization.id,
        projectId: owner.id,
        action: isNew ? "secret.create" : "secret.update",
        subject: row.keyName,
        detail: { version: row.version, environments: row.environments },
      });
      views.push(secretView(row));
    }
    return views;
  });
}

async function storeSecret(
  tx: Transaction,
  input: { readonly projectId: string; readonly value: NewValue; readonly box: SecretBox; readonly now: Date },
): Promise<{ readonly row: typeof secret.$inferSelect; readonly isNew: boolean }> {
  const { projectId, value, box, now } = input;
  const place = and(eq(secret.projectId, projectId), eq(secret.keyName, value.keyName));
  const [before] = await tx.select().from(secret).where(place);
  if (!before) await requireFreeSlot(tx, projectId);
  const binding = {
    projectId,
    keyName: value.keyName,
    version: (before?.version ?? 0) + 1,
    environments: value.environments ?? before?.environments ?? [...secretEnvironments],
  };
  const stored = { ...binding, ciphertext: box.encrypt(value.secretValue, binding), updatedAt: now };
  const [row] = before
    ? await tx.update(secret).set(stored).where(place).returning()
    : await tx
        .insert(secret)
        .values({ ...stored, id: newId(), sensitive: true, createdAt: now })
        .returning();
  if (!row) throw new TowpathError("internal", "The variable could not be stored.");
  return { row, isNew: !before };
}

/** Serializes changes of a project's secrets, so that versions and the limit are correct. */
async function lockProject(tx: Transaction, projectId: string): Promise<void> {
  const [row] = await tx.select({ id: project.id }).from(project).where(eq(project.id, projectId)).for("no key update");
  if (!row) throw notFound("project");
}

async function requireFreeSlot(tx: Transaction, projectId: string): Promise<void> {
  const [found] = await tx.select({ total: count() }).from(secret).where(eq(secret.projectId, projectId));
  if ((found?.total ?? 0) < maxSecrets) return;
  const message = `At most ${maxSecrets} secrets`;
  throw new TowpathError("invalid_input", message, { fields: { keyName: message } });
}
