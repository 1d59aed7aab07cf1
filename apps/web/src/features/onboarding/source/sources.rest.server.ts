import type { Context, SourceServices } from "@towpath/core/context";
import { type BuildView, startBuild } from "@towpath/core/delivery/build";
import type { ProjectView } from "@towpath/core/projects/project";
import { initialSecretsSchema } from "@towpath/core/projects/secret/schema";
import { deployRepository, getRepository } from "@towpath/core/sources/repository";
import {
  changeSource,
  checkSource,
  deployGitUrl,
  findRepositoryHere,
  getSource,
  makeSourceWebhookSecret,
  removeSourceWebhookSecret,
  type SourceSummary,
  updateSource,
} from "@towpath/core/sources/source";
import {
  changeSourceSchema,
  deployGitUrlSchema,
  lookAtSourceSchema,
  updateSourceSchema,
} from "@towpath/core/sources/source/schema";
import { z } from "zod";
import { answers } from "~/features/shared/answers/answers.server.ts";
import { saveExisting } from "~/features/shared/answers/existing-project.server.ts";
import { type Operation, operation, organizationSlug } from "~/http/rest/operation.server.ts";
import { lookIntoSource } from "./look.server.ts";

const { shape } = deployGitUrlSchema;

/** Settings of the server itself; without defaults, so that an existing server keeps what isn't given. */
const settingsSchema = z.object({
  entrypoint: shape.entrypoint.unwrap().optional(),
  arguments: shape.arguments.unwrap().optional(),
  requirements: shape.requirements.optional(),
  rootDirectory: shape.rootDirectory.optional(),
  authMode: shape.authMode.unwrap().optional(),
  capturePayloads: z.boolean().optional(),
});

/** Settings of the source. */
const sourceSchema = z.object({
  branch: shape.branch,
  previews: z.boolean().optional(),
  credential: shape.credential,
});

const saveGitUrlSchema = settingsSchema.extend({
  ...sourceSchema.shape,
  organization: z.string().min(1).nullish(),
  name: shape.name,
  gitUrl: shape.gitUrl,
  variables: initialSecretsSchema,
  /** Of a new server only. */
  access: shape.access,
});

const saveRepositorySchema = settingsSchema.extend({
  organization: z.string().min(1).nullish(),
  name: shape.name,
  branch: shape.branch,
  previews: z.boolean().optional(),
  variables: initialSecretsSchema,
  /** Of a new server only. */
  access: shape.access,
});

type SourceContext = Context<SourceServices | "packages">;

/** A server's Git source and the call's settings. */
type GitSource = {
  readonly orgSlug: string;
  readonly name: string;
  readonly variables: z.output<typeof initialSecretsSchema>;
  readonly access: z.output<typeof shape.access>;
  readonly settings: z.output<typeof settingsSchema>;
  /** Settings of the source. */
  readonly source: Readonly<Record<string, unknown>>;
  readonly isSame: (of: SourceSummary) => boolean;
  readonly deploy: (
    settings: z.output<typeof settingsSchema> & {
      readonly access: GitSource["access"];
      readonly requirements: string | null;
      readonly rootDirectory: string | null;
    },
  ) => Promise<{ readonly project: ProjectView; readonly build: BuildView }>;
};

/**
 * Creates the server with its first build. On an existing server of the same source, it changes the given settings and
 * builds the branch's newest commit, unless the newest build is of it.
 */
async function saveGitServer(
  ctx: SourceContext,
  { orgSlug, name, variables, access, settings, source, isSame, deploy }: GitSource,
) {
  const changes = Object.entries(source).filter(([, value]) => value !== undefined && value !== null);
  const existing = await saveExisting(ctx, {
    orgSlug,
    name,
    settings,
    variables,
    isSame: (of) => access === undefined && of.source !== null && isSame(of.source),
    remedy: "Choose another name, or change its source under Settings → Source.",
    change: async (key) => {
      if (changes.length > 0) await updateSource({ ctx, input: { ...key, ...Object.fromEntries(changes) } });
    },
  });
  if (!existing) {
    const { requirements = null, rootDirectory = null, ...others } = settings;
    return { ...(await deploy({ ...others, access, requirements, rootDirectory })), created: true };
  }
  const { key, project, reuse } = existing;
  return { project, ...(await startBuild({ ctx, input: { ...key, trigger: "cli", reuse } })) };
}

/** Deploys the repository behind a Git URL (SRC-2). */
async function saveGitUrl(ctx: SourceContext, input: z.output<typeof saveGitUrlSchema>) {
  const orgSlug = await organizationSlug(ctx, input.organization);
  const { name, gitUrl, variables, access } = input;
  const source = sourceSchema.parse(input);
  // The clone URL of a repository of this instance deploys that.
  const here = await findRepositoryHere({ ctx, input: { orgSlug, gitUrl } });
  return saveGitServer(ctx, {
    orgSlug,
    name,
    variables,
    access,
    source,
    settings: settingsSchema.parse(input),
    isSame: (of) =>
      here === null
        ? of.kind === "git" && isSameRepository(of.url, gitUrl)
        : of.kind === "repository" && of.name === here,
    deploy: (settings) =>
      deployGitUrl({
        ctx,
        input: { ...settings, ...source, orgSlug, name, gitUrl, secrets: variables, trigger: "cli" },
      }),
  });
}

/** Deploys a repository of this instance (SRC-3). */
async function saveRepository(ctx: SourceContext, repository: string, input: z.output<typeof saveRepositorySchema>) {
  const orgSlug = await organizationSlug(ctx, input.organization);
  // The repository is part of the address, not a field: refuse it as not found.
  await getRepository({ ctx, input: { orgSlug, name: repository } });
  const { name, branch, previews, variables, access } = input;
  const source = { branch, previews };
  return saveGitServer(ctx, {
    orgSlug,
    name,
    variables,
    access,
    source,
    settings: settingsSchema.parse(input),
    isSame: (of) => of.kind === "repository" && of.name === repository,
    deploy: (settings) =>
      deployRepository({
        ctx,
        input: { ...settings, ...source, orgSlug, name, repository, secrets: variables, trigger: "cli" },
      }),
  });
}

/** Whether two URLs name one repository, with or without `.git`. */
function isSameRepository(one: string, two: string): boolean {
  const plain = (url: string) => {
    const { protocol, host, pathname } = new URL(url);
    const path = pathname.split("/").filter((part) => part !== "");
    return [protocol, host, ...path].join("/").replace(/\.git$/, "");
  };
  return plain(one) === plain(two);
}

/** Servers that are built from a Git URL, and where a server's code comes from. */
export const sourceOperations: readonly Operation[] = [
  operation("POST /git-urls", "saveGitUrl", "project.create", {
    summary:
      "deploys the repository behind a Git URL (`gitUrl`, `branch`, `credential` if it is private): creates a server with its first build, for callers as in `access` from its beginning, or changes its settings and builds the branch's newest commit",
    body: saveGitUrlSchema,
    answer: answers.savedPackage,
    handle: ({ ctx, body }) => saveGitUrl(ctx, body),
  }),
  operation("POST /sources/look", "lookAtSource", "project.create", {
    summary:
      "what is in the repository that a `text` names (a URL, a link to a folder, `git clone …`), as New server shows it, without deploying",
    body: lookAtSourceSchema.extend({ organization: z.string().min(1).nullish() }),
    answer: answers.lookedAtSource,
    handle: async ({ ctx, body: { organization, ...input } }) =>
      lookIntoSource({ ctx, input: { ...input, orgSlug: await organizationSlug(ctx, organization) } }),
  }),
  operation("POST /repositories/{repository}/deploy", "deployRepository", "project.create", {
    summary:
      "deploys a repository of this instance: creates a server (`name`) with its first build, for callers as in `access` from its beginning, or changes its settings and builds the branch's newest commit",
    body: saveRepositorySchema,
    answer: answers.savedPackage,
    handle: ({ ctx, params, body }) => saveRepository(ctx, params.repository, body),
  }),
  operation("GET /projects/{name}/source", "readSource", "project.read", {
    summary: "where a server's code comes from, and when its Git URL was last asked",
    answer: z.object({ source: answers.sourceDetail }),
    handle: async ({ ctx, project }) => ({ source: await getSource({ ctx, input: { projectId: project.id } }) }),
  }),
  operation("PATCH /projects/{name}/source", "updateSource", "project.update", {
    summary:
      "changes the `branch` that goes live, which must exist (`null`: the repository's own); of a Git URL or repository of this instance also `previews`; of a URL also the `credential`, or where states of builds are posted (`status`: `kind`, `token`); `null` removes a credential or `status`",
    body: updateSourceSchema,
    answer: answers.sourceDetail,
    handle: ({ ctx, project, body }) => updateSource({ ctx, input: { ...body, projectId: project.id } }),
  }),
  operation("PUT /projects/{name}/source", "changeSource", "project.update", {
    summary:
      "has it built from something else from now on: a Git URL (`gitUrl`), a repository of this instance (`repository`), one of a connected GitHub account (`githubRepository`: `installationId`, `fullName`) or a package (`package`: `name`, `version`, `follows`), exactly one of them; its address, variables, logs and deployments stay, and the first commit or version there is built",
    body: changeSourceSchema,
    answer: z.object({ source: answers.sourceDetail, build: answers.build.shape.build }),
    handle: ({ ctx, project, body }) => changeSource({ ctx, input: { ...body, projectId: project.id } }),
  }),
  operation("POST /projects/{name}/source/check", "checkSource", "project.update", {
    summary: "asks its Git URL or repository now, and builds what is new",
    answer: answers.sourceDetail,
    handle: ({ ctx, project }) => checkSource({ ctx, input: { projectId: project.id } }),
  }),
  operation("POST /projects/{name}/source/webhook-secret", "makeWebhookSecret", "project.update", {
    summary: "makes the secret for webhooks of its Git host, in place of an earlier one; it is shown this once",
    answer: z.object({ secret: z.string(), source: answers.gitSource }),
    handle: ({ ctx, project }) => makeSourceWebhookSecret({ ctx, input: { projectId: project.id } }),
  }),
  operation("DELETE /projects/{name}/source/webhook-secret", "removeWebhookSecret", "project.update", {
    summary: "removes it: webhooks are refused, and its Git URL is asked from time to time",
    answer: answers.gitSource,
    handle: ({ ctx, project }) => removeSourceWebhookSecret({ ctx, input: { projectId: project.id } }),
  }),
];
