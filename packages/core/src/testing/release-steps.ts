import { build, deployment } from "@towpath/db/schema";
import { and, desc, eq } from "drizzle-orm";
import { startBuild } from "../delivery/build/start-build.ts";
import { takeBuild } from "../delivery/build/take-build.ts";
import type { GoLiveResult } from "../delivery/deployment/go-live.ts";
import type { ReleaseFigures, VersionFigures } from "../delivery/gradual-release/gradual-release.schema.ts";
import { judgeDueReleases } from "../delivery/gradual-release/judge-due-releases.ts";
import { finishBuild } from "./build-steps.ts";
import type { openProjectSuite } from "./project-suite.ts";
import { shaOf, testContext } from "./seed.ts";

export const figuresOf = (calls: number, errors = 0, p95Ms = 100): VersionFigures => ({
  calls,
  errors,
  p95Ms,
  p50Ms: p95Ms,
});

/** Figures with which a release goes on once its step's time is over. */
export const goodFigures: ReleaseFigures = { stable: figuresOf(500), candidate: figuresOf(50) };
export const badFigures: ReleaseFigures = { stable: figuresOf(500), candidate: figuresOf(50, 25) };

/** Pushes to the project of a suite, and a worker that judges its releases with a clock of its own. */
export function releaseSteps(suite: ReturnType<typeof openProjectSuite>) {
  const job = (ms = 0) =>
    testContext(
      suite.database.db,
      { kind: "job", job: "gradual-releases" },
      {
        clock: { now: () => new Date(Date.now() + ms) },
      },
    );
  const steps = {
    /** A build of a commit, taken by a worker and not finished. */
    async take(name: string) {
      const input = { ...suite.at(), branch: "main", commitSha: shaOf(name) };
      const { build: started } = await startBuild({ ctx: suite.as(suite.organization.owner), input });
      const taken = await takeBuild({ ctx: job(), input: { buildId: started.id } });
      return { buildId: started.id, attempt: taken?.attempt ?? -1 };
    },
    async push(name: string): Promise<GoLiveResult> {
      return finishBuild(suite.database.db, await steps.take(name));
    },
    /** The newest deployment of a commit. */
    async deploymentOf(name: string): Promise<string> {
      const [row] = await suite.database.db
        .select({ id: deployment.id })
        .from(deployment)
        .innerJoin(build, eq(build.id, deployment.buildId))
        .where(and(eq(deployment.projectId, suite.project.id), eq(build.commitSha, shaOf(name))))
        .orderBy(desc(build.sequence))
        .limit(1);
      return row?.id ?? "";
    },
    /** A worker's round, so many milliseconds from now. */
    judge: (ms: number, figures: ReleaseFigures) =>
      judgeDueReleases({ ctx: job(ms), input: { limit: 100, readFigures: async () => figures } }),
  };
  return steps;
}
