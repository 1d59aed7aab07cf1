import type { Context } from "@towpath/core/context";
import { getGradualRelease } from "@towpath/core/delivery/gradual-release";
import type { GradualReleaseView, ReleaseFigures } from "@towpath/core/delivery/gradual-release/schema";
import { releaseFigures } from "@towpath/logs";
import { readRequestLogs } from "~/features/shared/log-stream/log-reader.server.ts";

export type ShownRelease = {
  readonly release: GradualReleaseView | null;
  /** Of its current step; null unless it runs. */
  readonly figures: ReleaseFigures | null;
};

/** The newest gradual release of a project with both versions' figures, for members of its organization. */
export async function showRelease(ctx: Context, projectId: string): Promise<ShownRelease> {
  return withFigures(projectId, await getGradualRelease({ ctx, input: { projectId } }));
}

/** The caller has checked access to the project. */
export async function withFigures(projectId: string, release: GradualReleaseView | null): Promise<ShownRelease> {
  if (release?.state !== "running") return { release, figures: null };
  const { stable, candidate, stepStartedAt } = release;
  const of = {
    projectId,
    from: new Date(stepStartedAt),
    stableDeploymentId: stable.deploymentId,
    candidateDeploymentId: candidate.deploymentId,
  };
  return { release, figures: await readRequestLogs((reader) => releaseFigures(reader, of)) };
}
