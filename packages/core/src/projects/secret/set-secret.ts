import type { Transaction } from "@towpath/db";
import { secret } from "@towpath/db/schema";
import { ensureDataKey, type SecretBox } from "@towpath/secrets";
import { and, count, eq } from "drizzle-orm";
import type { z } from "zod";
import { audit } from "../../audit/index.ts";
import { authorizeProject, type ProjectScope } from "../../authorize/index.ts";
import type { Call, Context, ProjectAccess } from "../../context/index.ts";
import { notFound, TowpathError } from "../../errors/index.ts";
import { newId } from "../../ids/index.ts";
import { parseInput } from "../../input/index.ts";
import {
  createSecretSchema,
  maxSecrets,
  type SecretEnvironment,
  secretEnvironments,
  setSecretsSchema,
  updateSecretSchema,
} from "./secret.schema.ts";
import type { SecretRow, SecretView } from "./secret.store.ts";
import { lockProject, requireFittingEnvironments, secretView } from "./secret.store.ts";

type Input<Schema extends z.ZodType> = z.input<Schema> & ProjectScope;

/**
 * Creates a secret (KEY-1, KEY-5). By default it isn't sensitive, and for production and previews.
 *
 * @throws TowpathError `invalid_input` for VAL-4, and as `setSecrets`; `conflict` when there is one of that name
 */
export async function createSecret(call: Call<Input<typeof createSecretSchema>, "secrets">): Promise<SecretView> {
  const access = await authorizeProject(call.ctx, "secret.manage", call.input);
  const input = parseInput(createSecretSchema, call.input);
  return only(await storeSecrets(call.ctx, access, { changes: [input], expected: "new" }));
}

/**
 * Creates or replaces several secrets of a project, all or none (KEY-1). Of an existing one, what is not given stays.
 * Each value makes a new version, to which the ciphertext is bound (KEY-2), and has its own audit entry. Deployments
 * keep the versions that they were built with.
 *
 * @throws TowpathError `invalid_input` for VAL-4, a duplicate name, and more or larger secrets than a project may have
 */
export async function setSecrets(call: {
  ctx: Context<"secrets">;
  input: Input<typeof setSecretsSchema>;
}): Promise<readonly SecretView[]> {
  const access = await authorizeProject(call.ctx, "secret.manage", call.input);
  return storeSecrets(call.ctx, access, { changes: parseInput(setSecretsSchema, call.input).secrets });
}

/**
 * Changes what is given of an existing secret (KEY-1). Without a value it keeps its own; for other environments that is
 * encrypted again, as it is bound to them, in a new version.
 *
 * @throws TowpathError `not_found`; `invalid_input` as `setSecrets`, and for making a sensitive value visible
 */
export async function updateSecret(call: Call<Input<typeof updateSecretSchema>, "secrets">): Promise<SecretView> {
  const access = await authorizeProject(call.ctx, "secret.manage", call.input);
  const input = parseInput(updateSecretSchema, call.input);
  return only(await storeSecrets(call.ctx, access, { changes: [input], expected: "existing" }));
}

function only(views: readonly SecretView[]): SecretView {
  const [view] = views;
  if (!view) throw new TowpathError("internal", "The variable could not be stored.");
  return view;
}

type Change = {
  readonly keyName: string;
  readonly secretValue?: string | undefined;
  readonly description?: string | null | undefined;
  readonly sensitive?: boolean | undefined;
  readonly perCaller?: boolean | undefined;
  readonly environments?: readonly SecretEnvironment[] | undefined;
};

function storeSecrets(
  ctx: Context<"secrets">,
  { project: owner, organization }: ProjectAccess,
  { changes, expected }: { readonly changes: readonly Change[]; readonly expected?: "new" | "existing" },
): Promise<readonly SecretView[]> {
  const box = ctx.secrets;
  return ctx.db.transaction(async (tx) => {
    await lockProject(tx, owner.id);
    const views: SecretView[] = [];
    const scope = { organizationId: organization.id, projectId: owner.id, box, now: ctx.clock.now() };
    for (const change of changes) {
      const { row, isNew } = await storeSecret(tx, scope, change);
      if (expected === "new" && !isNew) throw exists(row.keyName);
      if (expected === "existing" && isNew) throw notFound("variable");
      await audit(tx, ctx, {
        organizationId: organization.id,
        projectId: owner.id,
        action: isNew ? "secret.create" : "secret.update",
        subject: row.keyName,
        detail: {
          version: row.version,
          environments: row.environments,
          sensitive: row.sensitive,
          perCaller: row.perCaller,
        },
      });
      views.push(secretView(row));
    }
    await requireFittingEnvironments(tx, owner.id);
    return views;
  });
}

type Scope = {
  readonly organizationId: string;
  readonly projectId: string;
  readonly box: SecretBox;
  readonly now: Date;
};

async function storeSecret(
  tx: Transaction,
  { organizationId, projectId, box, now }: Scope,
  change: Change,
): Promise<{ readonly row: SecretRow; readonly isNew: boolean }> {
  const place = and(eq(secret.projectId, projectId), eq(secret.keyName, change.keyName));
  const [before] = await tx.select().from(secret).where(place);
  if (!before) await requireFreeSlot(tx, projectId);
  if (before?.sensitive && change.sensitive === false && change.secretValue === undefined) throw staysSensitive();
  const about = {
    description: change.description === undefined ? (before?.description ?? null) : change.description,
    sensitive: change.sensitive ?? before?.sensitive ?? false,
    perCaller: change.perCaller ?? before?.perCaller ?? false,
    updatedAt: now,
  };
  if (before && !changesServers(before, change)) {
    const [row] = await tx.update(secret).set(about).where(place).returning();
    return { row: stored(row), isNew: false };
  }
  const owner = { organizationId, projectId };
  const dataKey = await ensureDataKey(tx, box, owner);
  const value = change.secretValue ?? (before && box.decrypt({ ...owner, ...before, secretId: before.id }, dataKey));
  if (value === undefined) throw notFound("variable");
  const binding = {
    keyName: change.keyName,
    version: (before?.version ?? 0) + 1,
    environments: [...(change.environments ?? before?.environments ?? secretEnvironments)],
  };
  const id = before?.id ?? newId();
  const version = {
    ...binding,
    ...about,
    ciphertext: box.encrypt(value, dataKey, { ...owner, ...binding, secretId: id }),
  };
  const [row] = before
    ? await tx.update(secret).set(version).where(place).returning()
    : await tx
        .insert(secret)
        .values({ ...version, id, projectId, createdAt: now })
        .returning();
  return { row: stored(row), isNew: !before };
}

/** Whether servers would get something else. Otherwise there is no new version, and nothing to redeploy. */
function changesServers(before: SecretRow, { secretValue, environments = [] }: Change): boolean {
  if (secretValue !== undefined) return true;
  return environments.length > 0 && environments.toSorted().join() !== before.environments.toSorted().join();
}

function stored(row: SecretRow | undefined): SecretRow {
  if (row) return row;
  throw new TowpathError("internal", "The variable could not be stored.");
}

function exists(keyName: string): TowpathError {
  const message = `The variable ${keyName} already exists. Change it, or choose another name.`;
  return new TowpathError("conflict", message, { fields: { keyName: message } });
}

function staysSensitive(): TowpathError {
  const message = "A sensitive value can't be made visible. Enter a new value to change this.";
  return new TowpathError("invalid_input", message, { fields: { sensitive: message } });
}

async function requireFreeSlot(tx: Transaction, projectId: string): Promise<void> {
  const [found] = await tx.select({ total: count() }).from(secret).where(eq(secret.projectId, projectId));
  if ((found?.total ?? 0) < maxSecrets) return;
  const message = `At most ${maxSecrets} secrets`;
  throw new TowpathError("invalid_input", message, { fields: { keyName: message } });
}
