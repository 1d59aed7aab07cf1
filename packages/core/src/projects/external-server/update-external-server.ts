import { externalServer } from "@towpath/db/schema";
import { and, eq } from "drizzle-orm";
import type { z } from "zod";
import { audit } from "../../audit/index.ts";
import { authorizeProject, type ProjectScope } from "../../authorize/index.ts";
import type { Context } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { parseInput } from "../../input/index.ts";
import { storeServerIcon } from "../server-icon/internal.ts";
import { type UpdateExternalServerInput, updateExternalServerSchema } from "./external-server.schema.ts";
import {
  type ExternalServerRow,
  nextCheckAt,
  openedCredential,
  readIcon,
  refusedInspection,
  requireElsewhere,
  requireExternalServer,
  sealedCredential,
} from "./external-server.store.ts";
import { type ExternalServerView, externalServerView } from "./external-server.view.ts";

/**
 * Changes where an external server is, or the credential that it gets (ORG-9); what is left out stays. The server is
 * inspected first, and nothing changes when that fails. Gateways are notified.
 *
 * @throws TowpathError `not_found` for a project of another kind, `conflict` when somebody else has changed it since
 * `revision`, `invalid_input` as `createExternalServer`, and for another origin without a new credential: a credential
 * is never sent to a place that it wasn't given for
 */
export async function updateExternalServer(call: {
  ctx: Context<"secrets" | "externalServers">;
  input: ProjectScope & UpdateExternalServerInput;
}): Promise<ExternalServerView> {
  const { ctx } = call;
  const { project, organization } = await authorizeProject(ctx, "secret.manage", call.input);
  const input = parseInput(updateExternalServerSchema, call.input);
  const before = await requireExternalServer(ctx.db, project.id);
  const { revision = before.revision } = input;
  const url = input.url ?? before.url;
  requireElsewhere(ctx, url);
  const credential = await nextCredential(ctx, organization.id, before, { ...input, url });
  const inspection = await ctx.externalServers.inspect({ url, credential });
  if (!inspection.ok) throw refusedInspection(inspection.problem);
  const read = await readIcon(ctx, inspection.icons, before);
  return ctx.db.transaction(async (tx) => {
    const now = ctx.clock.now();
    const version = before.credentialVersion + 1;
    const owner = { organizationId: organization.id, projectId: project.id, externalServerId: before.id, url, version };
    const [row] = await tx
      .update(externalServer)
      .set({
        url,
        ...(input.credential === undefined ? {} : await sealedCredential(tx, ctx, owner, input.credential)),
        manifest: inspection.manifest,
        ...read.columns,
        manifestAt: now,
        problem: null,
        checkedAt: now,
        nextCheckAt: nextCheckAt(now),
        revision: revision + 1,
        updatedAt: now,
      })
      .where(and(eq(externalServer.projectId, project.id), eq(externalServer.revision, revision)))
      .returning();
    if (!row) throw changedMeanwhile();
    if (read.icon) await storeServerIcon(tx, project.id, read.icon, now);
    await audit(tx, ctx, {
      organizationId: organization.id,
      projectId: project.id,
      action: "externalServer.update",
      subject: project.name,
      detail: {
        before: { url: before.url, credentialHeader: before.credentialHeader },
        after: { url, credentialHeader: row.credentialHeader, newCredential: input.credential !== undefined },
      },
    });
    return externalServerView(row);
  });
}

type Update = z.output<typeof updateExternalServerSchema> & { readonly url: string };

async function nextCredential(
  ctx: Context<"secrets">,
  organizationId: string,
  before: ExternalServerRow,
  update: Update,
) {
  if (update.credential === null) return null;
  if (update.credential) return { name: update.credential.header, value: update.credential.value };
  const origin = new URL(before.url).origin;
  if (before.credentialHeader !== null && new URL(update.url).origin !== origin) {
    const message = `Enter the credential again, or remove it: the stored one is for ${origin} only.`;
    throw new TowpathError("invalid_input", message, { fields: { credential: message } });
  }
  return openedCredential(ctx, organizationId, before);
}

const changedMeanwhile = () =>
  new TowpathError(
    "conflict",
    "Someone else just changed this server's address or credential. Reload the page to see the change.",
  );
