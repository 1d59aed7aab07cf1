import type { Database, Transaction } from "@towpath/db";
import { project, secret, secretVersion } from "@towpath/db/schema";
import { ensureDataKey, valueBytes } from "@towpath/secrets";
import { and, eq } from "drizzle-orm";
import { z } from "zod";
import type { Context } from "../../context/index.ts";
import { notFound, TowpathError } from "../../errors/index.ts";
import { newId } from "../../ids/index.ts";
import { type initialSecretsSchema, maxEnvironmentBytes, secretEnvironments } from "./secret.schema.ts";

export type SecretRow = typeof secret.$inferSelect;

export function secretView(row: SecretRow): SecretView {
  const environments = secretEnvironments.filter((each) => row.environments.includes(each));
  const { id, keyName, description, sensitive, perCaller } = row;
  return { id, keyName, environments, description, sensitive, perCaller, updatedAt: row.updatedAt.toISOString() };
}

type Owner = { readonly organizationId: string; readonly projectId: string };

/** Stores the initial secrets of a new project. The forms give names and values only: those are sensitive. */
export async function insertSecrets(
  tx: Transaction,
  ctx: Context<"secrets">,
  owner: Owner,
  values: z.output<typeof initialSecretsSchema>,
): Promise<void> {
  if (values.length === 0) return;
  const box = ctx.secrets;
  const dataKey = await ensureDataKey(tx, box, owner);
  const now = ctx.clock.now();
  await tx.insert(secret).values(
    values.map(
      ({
        keyName,
        secretValue,
        environments = secretEnvironments,
        sensitive = true,
        perCaller = false,
        description = null,
      }) => {
        const id = newId();
        const binding = { keyName, version: 1, environments: [...environments] };
        const ciphertext = box.encrypt(secretValue, dataKey, { ...owner, ...binding, secretId: id });
        const { projectId } = owner;
        return {
          ...binding,
          id,
          projectId,
          ciphertext,
          sensitive,
          perCaller,
          description,
          createdAt: now,
          updatedAt: now,
        };
      },
    ),
  );
  await requireFittingEnvironments(tx, owner.projectId);
}

/** The variables of a project as they are now, with the ids of their versions. */
export function listCurrentVersions(db: Database | Transaction, projectId: string) {
  return db
    .select({ secret, versionId: secretVersion.id })
    .from(secret)
    .innerJoin(secretVersion, and(eq(secretVersion.secretId, secret.id), eq(secretVersion.version, secret.version)))
    .where(eq(secret.projectId, projectId))
    .orderBy(secret.keyName);
}

/** Serializes changes of a project's secrets, so that versions and the limits are correct. */
export async function lockProject(tx: Transaction, projectId: string): Promise<void> {
  const [row] = await tx.select({ id: project.id }).from(project).where(eq(project.id, projectId)).for("no key update");
  if (!row) throw notFound("server");
}

/** @throws TowpathError `invalid_input` when an environment has become larger than a process's may be */
export async function requireFittingEnvironments(tx: Transaction, projectId: string): Promise<void> {
  requireFitting(await tx.select().from(secret).where(eq(secret.projectId, projectId)), "secretValue");
}

type Sized = Pick<SecretRow, "keyName" | "environments" | "ciphertext">;

/** The same of these values. `field`: the one of the form that they came in. */
export function requireFitting(rows: readonly Sized[], field: string): void {
  for (const environment of secretEnvironments) {
    const bytes = rows
      .filter((row) => row.environments.includes(environment))
      // `NAME=value` and the NUL at its end.
      .reduce((sum, row) => sum + row.keyName.length + valueBytes(row.ciphertext) + 2, 0);
    if (bytes <= maxEnvironmentBytes) continue;
    const kibibytes = (count: number) => Math.ceil(count / 1024);
    const message =
      `The variables of ${environment} would have ${kibibytes(bytes)} KiB together; ` +
      `a server's environment can have ${kibibytes(maxEnvironmentBytes)} KiB. Shorten or delete some of them first.`;
    throw new TowpathError("invalid_input", message, { fields: { [field]: message } });
  }
}

/** A secret without its value (KEY-1). */
export const secretViewSchema = z.object({
  id: z.uuid(),
  keyName: z.string(),
  environments: z.array(z.enum(secretEnvironments)).readonly(),
  description: z.string().nullable(),
  sensitive: z.boolean().describe("its value can't be read again"),
  perCaller: z.boolean().describe("each caller brings a value of their own; this one is for builds only"),
  updatedAt: z.iso.datetime(),
});
export type SecretView = z.infer<typeof secretViewSchema>;
