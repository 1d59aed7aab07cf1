import {
  branch,
  build,
  callReplay,
  deployment,
  forkPullRequest,
  project,
  route,
  sampledCall,
} from "@towpath/db/schema";
import { and, eq } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import { roleMay } from "../../authorize/index.ts";
import { mayCallServer } from "../../calling/access/internal.ts";
import type { Call, Context, ProjectAccess } from "../../context/index.ts";
import { notFound, TowpathError } from "../../errors/index.ts";
import { isId } from "../../input/index.ts";
import { checkSettingOf } from "../../projects/project/internal.ts";
import { authorizeBuild } from "../build/index.ts";
import type { ReplayView } from "./replay.schema.ts";
import { absentReplay, type ReplayRow, replayView } from "./replay.view.ts";
import { enqueueReplay } from "./request-replay.ts";

type OfBuild = { readonly buildId: string };

/** How the replay of production's calls on a build's commit went (CAP-4), and where there is none, why. */
export async function getReplay({ ctx, input }: Call<OfBuild, "secrets">): Promise<ReplayView> {
  const access = await authorizeBuild(ctx, "build.read", input.buildId);
  return viewOf(ctx, access, await readState(ctx, input.buildId));
}

/**
 * Replays production's calls on a live preview again.
 *
 * @throws TowpathError `forbidden` for who may not call the server, `conflict` where the setting is off, the build isn't the
 *   live version of a preview, or it is of a fork
 */
export async function startReplay({ ctx, input }: Call<OfBuild, "secrets">): Promise<ReplayView> {
  const access = await authorizeBuild(ctx, "build.start", input.buildId);
  if (!(await mayCallServer(ctx, access))) throw mayNotCall();
  const state = await readState(ctx, input.buildId);
  const absent = absentView(state);
  if (absent !== null && absent.state !== "none") throw new TowpathError("conflict", absent.text);
  if (!state.isLive) throw notLive();
  const { projectId, branchId, commitSha } = state.build;
  await ctx.db.transaction(async (tx) => {
    const asked = { buildId: state.build.id, state: "waiting", requestedAt: ctx.clock.now(), claimedUntil: null };
    const [row] = await tx
      .insert(callReplay)
      .values({ id: crypto.randomUUID(), projectId, branchId, commitSha, ...asked })
      .onConflictDoUpdate({ target: [callReplay.branchId, callReplay.commitSha], set: asked })
      .returning();
    if (!row) throw notFound("replay");
    await enqueueReplay(tx, ctx, row);
    await audit(tx, ctx, {
      organizationId: access.organization.id,
      projectId,
      action: "replay.start",
      subject: state.build.id,
      detail: { commitSha, branch: state.branch.name },
    });
  });
  return viewOf(ctx, access, await readState(ctx, input.buildId));
}

/**
 * The arguments of a sampled call, for a person who makes it again.
 *
 * @throws TowpathError `not_found` where the sample doesn't have it any more, `forbidden` for who may not call the server
 */
export async function getSampledCall({ ctx, input }: Call<OfBuild & { readonly callId: string }, "secrets">): Promise<{
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}> {
  const access = await authorizeBuild(ctx, "build.read", input.buildId);
  if (!(await mayCallServer(ctx, access))) throw mayNotCall();
  const { id: projectId } = access.project;
  const own = and(eq(sampledCall.projectId, projectId), eq(sampledCall.id, input.callId));
  const [row] = isId(input.callId) ? await ctx.db.select().from(sampledCall).where(own) : [];
  const text = row ? ctx.secrets.replays.open(row, row.sealed) : null;
  if (!row || text === null) throw notFound("sampled call");
  return { tool: row.tool, arguments: JSON.parse(text) };
}

type State = Awaited<ReturnType<typeof readState>>;

async function readState(ctx: Context, buildId: string) {
  const [found] = await ctx.db
    .select({ build, branch, project, fork: forkPullRequest.state, live: route.deploymentId })
    .from(build)
    .innerJoin(branch, eq(branch.id, build.branchId))
    .innerJoin(project, eq(project.id, build.projectId))
    .leftJoin(forkPullRequest, eq(forkPullRequest.branchId, branch.id))
    .leftJoin(deployment, eq(deployment.buildId, build.id))
    .leftJoin(route, eq(route.deploymentId, deployment.id))
    .where(eq(build.id, buildId));
  if (!found) throw notFound("build");
  const { branchId, commitSha } = found.build;
  const [replay = null]: (ReplayRow | null)[] = await ctx.db
    .select()
    .from(callReplay)
    .where(and(eq(callReplay.branchId, branchId), eq(callReplay.commitSha, commitSha)));
  const setting = checkSettingOf(found.project);
  return { ...found, replay, setting, isLive: found.live !== null };
}

function absentView({ branch: of, fork, replay, setting }: State): ReplayView | null {
  if (of.isDefault) return absentReplay("production", setting);
  if (fork !== null) return absentReplay("fork", setting);
  if (setting === null) return absentReplay("off", setting);
  return replay === null ? absentReplay("none", setting) : null;
}

async function viewOf(ctx: Context<"secrets">, access: ProjectAccess, state: State): Promise<ReplayView> {
  const { replay, setting, isLive } = state;
  const absent = absentView(state);
  const mayStart = isLive && roleMay(access.role, "build.start") && (await mayCallServer(ctx, access));
  const mayReplay = mayStart && (absent === null || absent.state === "none");
  if (absent !== null || replay === null || setting === null)
    return { ...(absent ?? absentReplay("off", null)), mayReplay };
  return replayView(ctx.secrets, replay, { setting, mayReplay });
}

const mayNotCall = () =>
  new TowpathError("forbidden", "Forbidden: your role in this organization does not allow calling this server.");

const notLive = () =>
  new TowpathError("conflict", "This version of the preview is not live any more. Replay calls on the live one.");
