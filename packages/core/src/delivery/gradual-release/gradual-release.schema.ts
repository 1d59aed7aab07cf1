import { z } from "zod";

// Browser-safe: the dashboard's forms use the same schemas as the verbs.

/** Percent of new sessions in the steps before a release ends with all of them. */
export const releaseSteps = [5, 25, 50] as const;

/** Who approves deployments to production, by their lowest role. */
export const approvalSchema = z.enum(["nobody", "admin", "owner"], {
  error: "Choose who approves deployments to production: nobody, admin or owner",
});
export type Approval = z.infer<typeof approvalSchema>;

const between = (what: string, least: number, most: number) =>
  z
    .number({ error: `${what} must be a number` })
    .min(least, `${what} must be ${least} or more`)
    .max(most, `${what} must be ${most} or less`);

/** What a release's figures may be at most, and when it is judged. */
const bandShape = {
  minutesPerStep: between("Minutes a step", 1, 1440).int("Minutes a step must be a whole number"),
  maxErrorPoints: between("Percentage points of errors", 0, 100),
  maxLatencyFactor: between("The factor of latency", 1, 100),
  minCalls: between("Calls in a step", 1, 10_000).int("Calls in a step must be a whole number"),
};

/** How deployments get into production. */
export const releasePolicySchema = z.object({
  isGradual: z.boolean().describe("whether pushes are released gradually"),
  ...bandShape,
  approval: approvalSchema,
});
export type ReleasePolicy = z.infer<typeof releasePolicySchema>;

/** Without a policy of its own. As in the database's schema. */
export const defaultPolicy: ReleasePolicy = {
  isGradual: false,
  minutesPerStep: 15,
  maxErrorPoints: 2,
  maxLatencyFactor: 1.5,
  minCalls: 20,
  approval: "nobody",
};

/** Absent fields don't change. */
export const changePolicySchema = releasePolicySchema.partial();
export type ChangePolicyInput = z.input<typeof changePolicySchema>;

export const releaseStateSchema = z.enum(["running", "finished", "went-back", "stopped"]);

/** Of a deployment to production. `replaced`: by a newer build of its branch. */
export const approvalStateSchema = z.enum(["waiting", "approved", "rejected", "replaced"]);

/** What people do with a running release. */
export const releaseActionSchema = z.enum(["next", "finish", "back"], {
  error: "Choose what to do with the release: next, finish or back",
});
export const changeReleaseSchema = z.object({
  action: releaseActionSchema,
  /** The revision that was seen; absent: whichever it has. */
  revision: z.number().int().min(1).optional(),
});
export type ChangeReleaseInput = z.input<typeof changeReleaseSchema>;

const versionSchema = z.object({
  deploymentId: z.uuid(),
  buildId: z.uuid(),
  commitSha: z.string(),
  commitMessage: z.string().nullable(),
  packageVersion: z.string().nullable(),
});

/** The calls of a version. Milliseconds without the time that a call waited for a server to start; null without calls. */
const versionFiguresSchema = z.object({
  calls: z.number().int(),
  errors: z.number().int(),
  p50Ms: z.number().nullable(),
  p95Ms: z.number().nullable(),
});
export type VersionFigures = z.infer<typeof versionFiguresSchema>;
export const noCalls: VersionFigures = { calls: 0, errors: 0, p50Ms: null, p95Ms: null };

/** Figures of both versions of a release in its current step. */
export const releaseFiguresSchema = z.object({ stable: versionFiguresSchema, candidate: versionFiguresSchema });
export type ReleaseFigures = z.infer<typeof releaseFiguresSchema>;

/** A gradual release as it is now. Times are ISO 8601. */
export const gradualReleaseSchema = z.object({
  id: z.uuid(),
  state: releaseStateSchema,
  reason: z.string().nullable().describe("why it went back or was stopped"),
  share: z.number().int().describe("percent of new sessions that the new version gets"),
  steps: z.array(z.number().int()).readonly(),
  step: z.number().int().describe("index of the current step"),
  ...bandShape,
  stable: versionSchema.describe("the version that was live when it began"),
  candidate: versionSchema.describe("the new version"),
  startedAt: z.iso.datetime(),
  stepStartedAt: z.iso.datetime(),
  endedAt: z.iso.datetime().nullable(),
  revision: z.number().int(),
  isCurrent: z.boolean().describe("whether one of its versions is live; not once another one took their place"),
});
export type GradualReleaseView = z.infer<typeof gradualReleaseSchema>;
