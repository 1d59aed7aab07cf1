import { branch, gradualRelease } from "@towpath/db/schema";
import { and, eq } from "drizzle-orm";
import { authorizeProject, type ProjectScope } from "../../authorize/index.ts";
import type { Call } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { parseInput } from "../../input/index.ts";
import { type ChangeReleaseInput, changeReleaseSchema, type GradualReleaseView } from "./gradual-release.schema.ts";
import { type Move, moveRelease } from "./move-release.ts";
import { newestRelease } from "./release.store.ts";

type ProjectName = { readonly orgSlug: string; readonly projectName: string };

/** The newest release of a server's production branch, running or ended (CAP-8); null for none. */
export async function getGradualRelease({ ctx, input }: Call<ProjectScope>): Promise<GradualReleaseView | null> {
  const { project } = await authorizeProject(ctx, "project.read", input);
  const [production] = await ctx.db
    .select({ id: branch.id })
    .from(branch)
    .where(and(eq(branch.projectId, project.id), eq(branch.isDefault, true)));
  return (production && (await newestRelease(ctx.db, production.id))) ?? null;
}

const moves = {
  next: { kind: "advance" },
  finish: { kind: "finish" },
  back: { kind: "back", reason: "Somebody chose to go back." },
} as const satisfies Record<string, Move>;

/**
 * Moves the release that runs on: `next` to its next step, `finish` to all sessions, `back` to the version before, where
 * the new version's sessions end too.
 *
 * @throws TowpathError `conflict` when none runs, or it has changed since `revision`; `invalid_input`; `not_found`
 */
export async function changeRelease(call: Call<ProjectName & ChangeReleaseInput>): Promise<GradualReleaseView> {
  const { ctx } = call;
  const { orgSlug, projectName, ...change } = call.input;
  const { project } = await authorizeProject(ctx, "build.start", { orgSlug, projectName });
  const { action, revision } = parseInput(changeReleaseSchema, change);
  return ctx.db.transaction(async (tx) => {
    const [running] = await tx
      .select()
      .from(gradualRelease)
      .where(and(eq(gradualRelease.projectId, project.id), eq(gradualRelease.state, "running")));
    if (!running) throw new TowpathError("conflict", "No gradual release runs on this server.");
    const moved = await moveRelease(tx, ctx, { ...running, revision: revision ?? running.revision }, moves[action]);
    const view = await newestRelease(tx, running.branchId);
    if (!moved || !view) throw changedMeanwhile();
    return view;
  });
}

const changedMeanwhile = () =>
  new TowpathError("conflict", "The release has just changed. Look at its figures again before you decide.");
