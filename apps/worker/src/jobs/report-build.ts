import { type BuildView, getBuild, type TakenBuild } from "@towpath/core/build";
import type { Context } from "@towpath/core/context";
import type { CommitStatus } from "@towpath/github";
import type { Logger } from "pino";
import type { Services } from "../services.ts";

/** GitHub takes 140 characters. */
const maxDescription = 140;

type Report = {
  readonly services: Services;
  readonly ctx: Context;
  readonly taken: TakenBuild;
  readonly operatorLog: Logger;
};

/**
 * Says at the commit how its build fares, with a link to the build. A build never waits for it or fails by it: GitHub may
 * be away, or the App may lack the permission. Reports of one build follow each other in order.
 */
export function createBuildReport({ services, ctx, taken, operatorLog }: Report): () => void {
  let last: Promise<void> = Promise.resolve();
  const report = async () => {
    const { installationId, repositoryFullName } = taken.project;
    const [owner, name] = repositoryFullName?.split("/") ?? [];
    if (installationId === null || !owner || !name) return;
    const build = await getBuild({ ctx, input: { buildId: taken.buildId } });
    const outcome = outcomeOf(build);
    if (outcome === null) return;
    const { orgSlug, name: project } = build.project;
    await services.github.setCommitStatus({ installationId, owner, name }, build.commitSha, {
      ...outcome,
      // A repository may be deployed as several servers.
      context: `towpath/${project}`,
      targetUrl: `${services.dashboardUrl}/${orgSlug}/${project}/build-logs/${build.id}`,
    });
  };
  return () => {
    last = last
      .then(report)
      .catch((error: unknown) => operatorLog.info({ err: error }, "the commit's status was not reported"));
  };
}

/** Null while the build waits for a worker: what was reported last holds until one has taken it. */
function outcomeOf({
  status,
  diagnosis,
  trigger,
  deployment,
}: BuildView): Pick<CommitStatus, "state" | "description"> | null {
  const isPromotion = trigger === "promote";
  switch (status) {
    case "queued":
      return null;
    case "building":
      return { state: "pending", description: isPromotion ? "Promoting to production" : "Building" };
    case "succeeded":
      return {
        state: "success",
        description: isPromotion && deployment?.isLive ? "Promoted to production" : "Deployed",
      };
    case "canceled":
      return { state: "error", description: "Canceled" };
    case "failed":
      return { state: "failure", description: shortened(diagnosis?.title ?? "Build failed") };
  }
}

const shortened = (text: string) =>
  text.length <= maxDescription ? text : `${text.slice(0, maxDescription - 1).trimEnd()}…`;
