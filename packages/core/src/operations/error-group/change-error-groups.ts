import { errorGroup } from "@towpath/db/schema";
import { and, asc, eq, inArray, ne } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import { authorizeProject, type ProjectScope } from "../../authorize/index.ts";
import type { Call } from "../../context/index.ts";
import { notFound } from "../../errors/index.ts";
import { parseInput } from "../../input/index.ts";
import { type ErrorState, errorChangesSchema } from "./error-group.schema.ts";

type Change = ProjectScope & { readonly ids: readonly string[]; readonly state: ErrorState };

/**
 * Resolves, ignores or reopens errors of a project (CAP-6). A resolved one comes back with a failure of a deployment that
 * is newer than the one in which it was last seen; an ignored one is counted on without notice.
 *
 * @returns how many changed: those that had the state already didn't
 * @throws TowpathError `not_found` if the project lacks one of them; then none changes
 */
export async function changeErrorGroups({ ctx, input }: Call<Change>): Promise<{ readonly changed: number }> {
  const { project, organization } = await authorizeProject(ctx, "project.update", input);
  const { ids, state } = parseInput(errorChangesSchema, input);
  const own = and(eq(errorGroup.projectId, project.id), inArray(errorGroup.id, ids));
  const now = ctx.clock.now();
  return ctx.db.transaction(async (tx) => {
    // In the order in which the worker locks them too.
    const found = await tx
      .select({ id: errorGroup.id })
      .from(errorGroup)
      .where(own)
      .orderBy(asc(errorGroup.id))
      .for("update");
    if (found.length < new Set(ids).size) throw notFound("error");
    const isResolved = state === "resolved";
    const changed = await tx
      .update(errorGroup)
      .set({
        state,
        resolvedAt: isResolved ? now : null,
        resolvedDeploymentId: isResolved ? errorGroup.lastDeploymentId : null,
        ...(isResolved && { isBack: false }),
      })
      .where(and(own, ne(errorGroup.state, state)))
      .returning({ id: errorGroup.id, title: errorGroup.title });
    for (const { id, title } of changed) {
      await audit(tx, ctx, {
        organizationId: organization.id,
        projectId: project.id,
        action: `error.${actions[state]}`,
        subject: project.name,
        detail: { error: id, title },
      });
    }
    return { changed: changed.length };
  });
}

const actions = { open: "reopen", resolved: "resolve", ignored: "ignore" } as const satisfies Record<
  ErrorState,
  string
>;
