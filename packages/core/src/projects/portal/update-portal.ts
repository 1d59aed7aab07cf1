import { portal } from "@towpath/db/schema";
import { and, eq } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import { authorizeProject, type ProjectScope } from "../../authorize/index.ts";
import type { Call } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { parseInput } from "../../input/index.ts";
import { type UpdatePortalInput, updatePortalSchema } from "./portal.schema.ts";
import { chosenServers, namesOf, replaceServers, requirePortal, selectPortalServers } from "./portal.store.ts";
import { type PortalView, portalView } from "./portal.view.ts";

/**
 * Changes which servers a portal has and what it offers of them (ORG-3); what is left out stays. Gateways are notified, and
 * clients hear that lists have changed.
 *
 * @throws TowpathError `not_found` for a project of another kind, `conflict` when somebody else has changed it since
 * `revision`, `invalid_input` as `createPortal`
 */
export async function updatePortal(call: Call<ProjectScope & UpdatePortalInput>): Promise<PortalView> {
  const { ctx } = call;
  const { project, organization } = await authorizeProject(ctx, "project.update", call.input);
  const input = parseInput(updatePortalSchema, call.input);
  const before = await requirePortal(ctx.db, project.id);
  const { revision = before.revision } = input;
  return ctx.db.transaction(async (tx) => {
    const servers = input.servers && (await chosenServers(tx, organization.id, input.servers));
    const [row] = await tx
      .update(portal)
      .set({
        ...(input.instructions !== undefined && { instructions: input.instructions }),
        revision: revision + 1,
        updatedAt: ctx.clock.now(),
      })
      .where(and(eq(portal.id, before.id), eq(portal.revision, revision)))
      .returning();
    if (!row) throw changedMeanwhile();
    if (servers) await replaceServers(tx, row.id, servers);
    await audit(tx, ctx, {
      organizationId: organization.id,
      projectId: project.id,
      action: "portal.update",
      subject: project.name,
      detail: {
        ...(servers && { servers: await namesOf(tx, servers) }),
        ...(input.instructions !== undefined && { instructions: input.instructions }),
      },
    });
    return portalView(row, await selectPortalServers(tx, organization.id, [row.id]));
  });
}

const changedMeanwhile = () =>
  new TowpathError("conflict", "Someone else just changed this portal. Reload the page to see the change.");
