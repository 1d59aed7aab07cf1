import type { Database, Transaction } from "@towpath/db";
import { callerValue, member, organization, project, secret } from "@towpath/db/schema";
import { callerBinding, ensureDataKey } from "@towpath/secrets";
import { and, asc, eq, exists, inArray } from "drizzle-orm";
import type { z } from "zod";
import { audit } from "../../audit/index.ts";
import { authorizeProject, type ProjectScope } from "../../authorize/index.ts";
import type { Call, Context, ProjectAccess } from "../../context/index.ts";
import { notFound, TowpathError } from "../../errors/index.ts";
import { newId } from "../../ids/index.ts";
import { parseInput } from "../../input/index.ts";
import { callerProbeOf } from "../project/internal.ts";
import { requireFitting } from "../secret/internal.ts";
import { setCallerValuesSchema } from "./caller-value.schema.ts";
import type { CallerValuesView } from "./caller-value.view.ts";

/**
 * What a server asks each caller for, and which of it the acting person has set (CAP-1). Never a value.
 *
 * @throws TowpathError `forbidden` for an actor that is no person
 */
export async function readCallerValues({ ctx, input }: Call<ProjectScope>): Promise<CallerValuesView> {
  const access = await authorizeProject(ctx, "project.read", input);
  return viewOf(ctx.db, access, actingPerson(ctx));
}

/** Servers of the person's organizations that ask each caller for values, by name. */
export async function listCallerServers({ ctx }: Call<void>): Promise<readonly CallerValuesView[]> {
  const userId = actingPerson(ctx);
  const asks = ctx.db
    .select({ id: secret.id })
    .from(secret)
    .where(and(eq(secret.projectId, project.id), eq(secret.perCaller, true)));
  const rows = await ctx.db
    .select({ project, organization })
    .from(project)
    .innerJoin(organization, eq(organization.id, project.organizationId))
    .innerJoin(member, and(eq(member.organizationId, organization.id), eq(member.userId, userId)))
    .where(exists(asks))
    .orderBy(asc(project.name));
  return Promise.all(rows.map((row) => viewOf(ctx.db, row, userId)));
}

/**
 * Sets values of the acting person, all or none. They are sealed for person and server; calls get them from the next one
 * on (CAP-1).
 *
 * @throws TowpathError `forbidden` for an actor that is no person; `invalid_input` for a value that can't be stored and
 * for a variable that isn't per caller
 */
export async function setCallerValues({
  ctx,
  input,
}: Call<z.input<typeof setCallerValuesSchema> & ProjectScope, "secrets">): Promise<CallerValuesView> {
  const access = await authorizeProject(ctx, "project.read", input);
  const userId = actingPerson(ctx);
  const { values } = parseInput(setCallerValuesSchema, input);
  const owner = { organizationId: access.organization.id, projectId: access.project.id };
  return ctx.db.transaction(async (tx) => {
    await requirePerCaller(
      tx,
      owner.projectId,
      values.map(({ keyName }) => keyName),
    );
    const dataKey = await ensureDataKey(tx, ctx.secrets, owner);
    const now = ctx.clock.now();
    for (const { keyName, value } of values) {
      const place = valueAt(owner.projectId, userId, keyName);
      const [before] = await tx.select().from(callerValue).where(place).for("update");
      const row = { id: before?.id ?? newId(), keyName, version: (before?.version ?? 0) + 1 };
      const ciphertext = ctx.secrets.encrypt(value, dataKey, callerBinding({ ...owner, ...row, userId }));
      if (before) await tx.update(callerValue).set({ version: row.version, ciphertext, updatedAt: now }).where(place);
      else
        await tx.insert(callerValue).values({ ...row, ...owner, userId, ciphertext, createdAt: now, updatedAt: now });
      await audit(tx, ctx, { ...owner, action: "callerValue.set", subject: keyName, detail: { version: row.version } });
    }
    await requireFittingOwn(tx, owner.projectId, userId);
    return viewOf(tx, access, userId);
  });
}

/**
 * Deletes a value of the acting person; their next call is refused (CAP-1).
 *
 * @throws TowpathError `not_found` when they have none of that name
 */
export async function deleteCallerValue({
  ctx,
  input,
}: Call<ProjectScope & { readonly keyName: string }>): Promise<CallerValuesView> {
  const access = await authorizeProject(ctx, "project.read", input);
  const userId = actingPerson(ctx);
  return ctx.db.transaction(async (tx) => {
    const deleted = await tx
      .delete(callerValue)
      .where(valueAt(access.project.id, userId, input.keyName))
      .returning();
    if (deleted.length === 0) throw notFound("value");
    await audit(tx, ctx, {
      organizationId: access.organization.id,
      projectId: access.project.id,
      action: "callerValue.delete",
      subject: input.keyName,
    });
    return viewOf(tx, access, userId);
  });
}

const valueAt = (projectId: string, userId: string, keyName: string | typeof secret.keyName) =>
  and(eq(callerValue.projectId, projectId), eq(callerValue.userId, userId), eq(callerValue.keyName, keyName));

/** Also a personal key acts as its person. */
export function actingPerson({ actor }: Context): string {
  const userId = actor.kind === "user" || actor.kind === "apiKey" ? actor.userId : null;
  if (userId !== null) return userId;
  throw new TowpathError("forbidden", "Values per caller belong to a person. Sign in, or use a personal API key.");
}

async function viewOf(
  db: Database | Transaction,
  {
    project: { id: projectId, name, callerProbe },
    organization: { slug, name: organizationName },
  }: Pick<ProjectAccess, "organization"> & {
    readonly project: { readonly id: string; readonly name: string; readonly callerProbe: unknown };
  },
  userId: string,
): Promise<CallerValuesView> {
  const own = and(eq(callerValue.projectId, secret.projectId), eq(callerValue.keyName, secret.keyName));
  const values = await db
    .select({ keyName: secret.keyName, description: secret.description, setAt: callerValue.updatedAt })
    .from(secret)
    .leftJoin(callerValue, and(own, eq(callerValue.userId, userId)))
    .where(and(eq(secret.projectId, projectId), eq(secret.perCaller, true)))
    .orderBy(asc(secret.keyName));
  return {
    projectId,
    orgSlug: slug,
    organization: organizationName,
    name,
    values: values.map(({ setAt, ...value }) => ({ ...value, setAt: setAt?.toISOString() ?? null })),
    isChecked: callerProbeOf({ callerProbe }) !== null,
  };
}

/** @throws TowpathError `invalid_input` when the person's instance would have more in its environment than a process may */
async function requireFittingOwn(tx: Transaction, projectId: string, userId: string): Promise<void> {
  const own = and(valueAt(projectId, userId, secret.keyName), eq(secret.perCaller, true));
  const rows = await tx
    .select({ secret, ciphertext: callerValue.ciphertext })
    .from(secret)
    .leftJoin(callerValue, own)
    .where(eq(secret.projectId, projectId));
  requireFitting(
    rows.map((row) => ({ ...row.secret, ciphertext: row.ciphertext ?? row.secret.ciphertext })),
    "values",
  );
}

async function requirePerCaller(tx: Transaction, projectId: string, keyNames: readonly string[]): Promise<void> {
  const found = await tx
    .select({ keyName: secret.keyName })
    .from(secret)
    .where(and(eq(secret.projectId, projectId), eq(secret.perCaller, true), inArray(secret.keyName, [...keyNames])));
  const unknown = keyNames.filter((keyName) => !found.some((each) => each.keyName === keyName));
  if (unknown.length === 0) return;
  const message = `The server doesn't ask its callers for ${unknown.join(", ")}.`;
  throw new TowpathError("invalid_input", message, { fields: { values: message } });
}
