import { z } from "zod";
import { commitSchema } from "../project/project.schema.ts";

/** BLD-1. */
export const buildStatuses = ["queued", "building", "succeeded", "failed", "canceled"] as const;
export const buildStatusSchema = z.enum(buildStatuses);
export type BuildStatus = z.infer<typeof buildStatusSchema>;

export const buildTriggers = ["quickstart", "import", "push", "redeploy", "cli"] as const;
export const buildTriggerSchema = z.enum(buildTriggers);
export type BuildTrigger = z.infer<typeof buildTriggerSchema>;

/** PRJ-2: a page of builds, newest first. */
export const listBuildsSchema = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(100),
  offset: z.coerce.number().int().min(0).default(0),
});
export type ListBuildsInput = z.input<typeof listBuildsSchema> & {
  readonly orgSlug: string;
  readonly projectName: string;
};

export const startBuildSchema = z.object({
  /** Default: the project's default branch. */
  branch: z.string().min(1).max(255).optional(),
  /** The branch's newest commit, resolved by the caller. */
  commit: commitSchema,
  trigger: buildTriggerSchema.default("import"),
  /**
   * When the branch's newest build is of this commit, with the project's present settings: `unless-failed` answers with
   * it when it has not failed, `always` even then (the caller's own push has made it), `never` builds again.
   */
  reuse: z.enum(["unless-failed", "always", "never"]).default("unless-failed"),
});
export type StartBuildInput = z.input<typeof startBuildSchema> & {
  readonly orgSlug: string;
  readonly projectName: string;
};

/** What the pages read of `Diagnosis` (see the builder's contract). Kept loose: rows outlive versions. */
export const diagnosisViewSchema = z.object({
  code: z.string(),
  phase: z.string(),
  title: z.string(),
  detail: z.string(),
  remedy: z.string(),
  file: z.string().nullable().default(null),
  line: z.number().int().nullable().default(null),
  excerpt: z.string().nullable().default(null),
});
/** `BuildWarning` of the builder, equally loose. */
export const buildWarningViewSchema = z.object({
  code: z.string(),
  title: z.string(),
  detail: z.string(),
  remedy: z.string(),
});
export type BuildWarningView = z.infer<typeof buildWarningViewSchema>;

export type DiagnosisView = z.infer<typeof diagnosisViewSchema>;
