import { z } from "zod";
import { deployProjectSchema } from "../../projects/project/project.schema.ts";
import { packageNameSchema, packageVersionSchema } from "../package/package.schema.ts";
import { repositoryNameSchema } from "../repository/repository-name.schema.ts";

const maxUrlLength = 2000;

/** A URL without a secret: by SSH a user is part of the address, often `git`; by https it may be a token. */
export const hasNoSecret = ({ protocol, username, password }: URL): boolean =>
  password === "" && (protocol === "ssh:" ? /^(?:\w[\w.-]{0,63})?$/ : /^(?:git)?$/).test(username);

/** `https://…`, `ssh://…` or `http://…`, without user (but for SSH), password, query and fragment. */
export const gitUrlSchema = z
  .string({ error: "Paste the repository's URL" })
  .trim()
  .min(1, { error: "Paste the repository's URL", abort: true })
  .max(maxUrlLength, { error: `URL is too long (max ${maxUrlLength} characters)`, abort: true })
  .refine((text) => URL.canParse(text) && /^(?:https?|ssh):$/.test(new URL(text).protocol), {
    error: "Enter a Git URL such as https://example.com/owner/repository",
    abort: true,
  })
  .refine((text) => hasNoSecret(new URL(text)), {
    error: "The URL must have no user name or password. Add a token instead",
  })
  .refine((text) => !/[?#]/.test(text), { error: "The URL must have no query (?) or fragment (#)" });

/** A branch as Git allows it (git-check-ref-format), of at most 255 characters. */
export const branchNameSchema = z
  .string()
  .trim()
  .min(1, { error: "Name a branch", abort: true })
  .max(255, { error: "A branch's name has 255 characters or less", abort: true })
  .regex(/^(?![-/.])(?!.*(?:\.\.|\/\/|@\{|\/\.|\.lock(?:\/|$)))[^\p{Cc} ~^:?*[\\]+(?<![/.])$/u, {
    error: "This can't be a branch's name",
  });

/** What a person gives for a private repository. A deploy key was made by `makeDeployKey`, which sealed its private part. */
export const gitCredentialInputSchema = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("token"),
    /** Some hosts want a user name beside the token. */
    username: z.string().trim().max(200).default(""),
    token: z.string().trim().min(1, "Token is required").max(8192, "Token is too long (max 8192 characters)"),
    /** When the host ends it, if the owner says so: Towpath then warns before. */
    expiresAt: z.iso.datetime({ offset: true }).nullish(),
  }),
  z.object({ kind: z.literal("deployKey"), sealed: z.string().min(1).max(10_000) }),
]);
export type GitCredentialInput = z.input<typeof gitCredentialInputSchema>;

/** `text`: what was pasted. */
export const lookAtSourceSchema = z.object({
  text: z.string().trim().max(maxUrlLength),
  /** Default: the one in a pasted link, else the repository's own default branch. */
  branch: branchNameSchema.nullish(),
  credential: gitCredentialInputSchema.nullish(),
});

export const deployGitUrlSchema = deployProjectSchema
  .omit({ installationId: true, repositoryFullName: true, commitSha: true, trigger: true })
  .extend({
    gitUrl: gitUrlSchema,
    /** The branch that goes live; default: the repository's own, which is then followed when it changes. */
    branch: branchNameSchema.nullish(),
    /** Whether pushes to other branches get previews. */
    previews: z.boolean().default(false),
    credential: gitCredentialInputSchema.nullish(),
    trigger: z.enum(["import", "cli"]).default("import"),
  });
export type DeployGitUrlInput = z.input<typeof deployGitUrlSchema> & { readonly orgSlug: string };

/** Hosts whose API takes states of builds. */
export const statusHosts = ["gitlab", "gitea", "bitbucket", "github"] as const;
export type StatusHost = (typeof statusHosts)[number];

/** Where states of builds are posted, with a token of that right. */
const statusHookSchema = z.object({
  kind: z.enum(statusHosts),
  token: z.string().trim().min(1, "Token is required").max(8192, "Token is too long (max 8192 characters)"),
});

/** Absent fields don't change. `credential: null` and `status: null` remove it. */
export const updateSourceSchema = z.object({
  branch: branchNameSchema.nullable().optional(),
  previews: z.boolean().optional(),
  credential: gitCredentialInputSchema.nullable().optional(),
  status: statusHookSchema.nullable().optional(),
});

/**
 * Another place for a server's code, exactly one; everything else of the server stays. The first commit or version there
 * is built at once.
 */
export const changeSourceSchema = z.object({
  gitUrl: gitUrlSchema.optional(),
  /** Of this instance, by name. */
  repository: repositoryNameSchema.optional(),
  /** Of a connected account; `fullName`: owner/name. */
  githubRepository: z
    .object({
      installationId: deployProjectSchema.shape.installationId,
      fullName: deployProjectSchema.shape.repositoryFullName,
    })
    .optional(),
  /** Of the index. `version`: default, the newest that is no prerelease; `follows`: newer ones are built. */
  package: z
    .object({
      name: packageNameSchema,
      version: packageVersionSchema.nullish(),
      follows: z.boolean().default(false),
    })
    .optional(),
  /** The branch that goes live; default: the repository's own, which is then followed when it changes. */
  branch: branchNameSchema.nullish(),
  /** For a Git URL, where they are off by default, or a repository of this instance, where they are on. */
  previews: z.boolean().optional(),
  /** For a Git URL. */
  credential: gitCredentialInputSchema.nullish(),
});
