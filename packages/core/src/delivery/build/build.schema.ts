import { z } from "zod";
import { commitShaSchema } from "../../projects/project/project.schema.ts";
import { packageVersionSchema } from "../../sources/package/package.schema.ts";
import { buildTriggerSchema } from "./build-contract.schema.ts";

/** PRJ-2: a page of builds, newest first. */
export const listBuildsSchema = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(100),
  offset: z.coerce.number().int().min(0).default(0),
  /** Id of the last build of the page before, in place of an offset: a push between two pages then repeats no build. */
  after: z.uuid().optional(),
  /** Name of a branch, to list the builds of this one only. */
  branch: z.string().min(1).max(255).optional(),
  /** Only builds that have a deployment, live or not. */
  deployed: z.boolean().default(false),
  /** Whether each build has its manifest, which can be a megabyte. */
  withManifests: z.boolean().default(false),
});
export type ListBuildsInput = z.input<typeof listBuildsSchema> & {
  readonly orgSlug: string;
  readonly projectName: string;
};

export const startBuildSchema = z.object({
  /** Default: the project's default branch. */
  branch: z.string().min(1).max(255).optional(),
  /** Default: the branch's newest commit. */
  commitSha: commitShaSchema.nullish(),
  /** Of a project that runs a package; default: the newest. */
  version: packageVersionSchema.nullish(),
  trigger: buildTriggerSchema.default("import"),
  /**
   * If the branch's newest build is of this commit and the project's current settings: `unless-failed` returns that
   * build unless it failed, `always` even then (the caller's own push has started it), `never` builds again.
   */
  reuse: z.enum(["unless-failed", "always", "never"]).default("unless-failed"),
});
export type StartBuildInput = z.input<typeof startBuildSchema> & {
  readonly orgSlug: string;
  readonly projectName: string;
};
