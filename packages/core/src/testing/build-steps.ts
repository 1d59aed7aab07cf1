import type { Database } from "@towpath/db";
import { build, deployment, route } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import type { Diagnosis } from "../delivery/build/build-contract.schema.ts";
import { takeBuild } from "../delivery/build/take-build.ts";
import { type BuildOutcome, createDeployment } from "../delivery/deployment/create-deployment.ts";
import { type GoLiveResult, goLive } from "../delivery/deployment/go-live.ts";
import { testContext } from "./seed.ts";
import { sampleManifest } from "./seed-live.ts";

const manifest = sampleManifest({ protocolVersion: "2025-06-18", server: { name: "echo", version: "1" }, tools: [] });
const sampleLayers = { pythonVersion: "3.12.1", dependencies: "a".repeat(64), code: "b".repeat(64) };

type Fence = { readonly buildId: string; readonly attempt: number };

/** What a build makes that goes well. */
export const sampleOutcome = (fence: Fence): BuildOutcome => ({
  ...fence,
  layers: sampleLayers,
  resolution: null,
  program: { entrypoint: "echo.py", arguments: [] },
  manifest,
  recording: null,
  warnings: [],
  ownSignIn: false,
  icon: null,
  timings: { install: 12 },
});

export const sampleDiagnosis: Diagnosis = {
  code: "module_missing",
  phase: "inspect",
  title: "The module requests is missing",
  detail: "server.py imports it in line 1.",
  remedy: "Add requests to requirements.txt.",
  file: "server.py",
  line: 1,
  excerpt: null,
  action: { kind: "code", path: "server.py" },
};

/** Does what a worker does with a queued build that goes well. */
export async function succeedBuild(db: Database, buildId: string): Promise<GoLiveResult> {
  const ctx = testContext(db, { kind: "job", job: "build.run" });
  const taken = await takeBuild({ ctx, input: { buildId } });
  if (!taken) throw new Error(`build ${buildId} was not queued`);
  return finishBuild(db, { buildId, attempt: taken.attempt });
}

/** The end of it, for a build that was taken before. */
export async function finishBuild(db: Database, fence: Fence): Promise<GoLiveResult> {
  const ctx = testContext(db, { kind: "job", job: "build.run" });
  if (!(await createDeployment({ ctx, input: sampleOutcome(fence) }))) return { outcome: "lost" };
  return goLive({ ctx, input: fence });
}

/** Commit that is live on a branch; null when nothing is. */
export async function liveCommit(db: Database, branchId: string): Promise<string | null> {
  const [row] = await db
    .select({ commitSha: build.commitSha })
    .from(route)
    .innerJoin(deployment, eq(deployment.id, route.deploymentId))
    .innerJoin(build, eq(build.id, deployment.buildId))
    .where(eq(route.branchId, branchId));
  return row?.commitSha ?? null;
}
