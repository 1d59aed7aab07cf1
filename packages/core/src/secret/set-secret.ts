import type { Transaction } from "@towpath/db";
import { project, secret } from "@towpath/db/schema";
import { and, count, eq } from "drizzle-orm";
import { audit } from "../audit/index.ts";
import { authorizeProject } from "../authorize/index.ts";
import type { Context } from "../context/index.ts";
import { notFound, TowpathError } from "../errors/index.ts";
import { newId } from "../ids/index.ts";
import { parseInput } from "../input/index.ts";
import { mostVariables, type SetSecretInput, setSecretSchema } from "./secret.schema.ts";
import { requireSecretBox, secretView } from "./secret.store.ts";
import type { SecretView } from "./secret.view.ts";

/**
 * Creates a secret, or replaces the value and environments of the one of that name (KEY-1). Each change is a version
 * of its own that the ciphertext is bound to (KEY-2). Servers get it when they are started next.
 *
 * @throws TowpathError `invalid_input` for VAL-4 and for more secrets than a project may have.
 */
export async function setSecret(call: { ctx: Context; input: SetSecretInput }): Promise<SecretView> {
  const { ctx } = call;
  const { project: owner, organization } = await authorizeProject(ctx, "secret.manage", {
    orgSlug: call.input.orgSlug,
    projectName: call.input.projectName,
  });
  const input = parseInput(setSecretSchema, call.input);
  const box = requireSecretBox(ctx);
  return ctx.db.transaction(async (tx) => {
    await lockProject(tx, owner.id);
    const place = and(eq(secret.projectId, owner.id), eq(secret.keyName, input.keyName));
    const [before] = await tx.select().from(secret).where(place);
    if (!before) await requireRoom(tx, owner.id);
    const binding = {
      projectId: owner.id,
      keyName: input.keyName,
      version: (before?.version ?? 0) + 1,
      environments: input.environments,
    };
    const now = ctx.clock.now();
    const stored = { ...binding, ciphertext: box.encrypt(input.secretValue, binding), updatedAt: now };
    const [row] = before
      ? await tx.update(secret).set(stored).where(place).returning()
      : await tx
          .insert(secret)
          .values({ ...stored, id: newId(), sensitive: true, createdAt: now })
          .returning();
    if (!row) throw new TowpathError("internal", "The variable could not be stored.");
    await audit(tx, ctx, {
      organizationId: organization.id,
      projectId: owner.id,
      action: before ? "secret.update" : "secret.create",
      subject: row.keyName,
      detail: { version: row.version, environments: row.environments },
    });
    return secretView(row);
  });
}

/** Two changes of one project's secrets follow each other: versions and the limit count on it. */
async function lockProject(tx: Transaction, projectId: string): Promise<void> {
  const [row] = await tx.select({ id: project.id }).from(project).where(eq(project.id, projectId)).for("no key update");
  if (!row) throw notFound("project");
}

async function requireRoom(tx: Transaction, projectId: string): Promise<void> {
  const [found] = await tx.select({ total: count() }).from(secret).where(eq(secret.projectId, projectId));
  if ((found?.total ?? 0) < mostVariables) return;
  const message = `At most ${mostVariables} variables`;
  throw new TowpathError("invalid_input", message, { fields: { keyName: message } });
}
