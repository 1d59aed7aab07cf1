import { startBuild } from "@towpath/core/build";
import type { Context } from "@towpath/core/context";
import { findProjectOfInstance, unavailableName, updateProject } from "@towpath/core/project";
import { initialSecretsSchema } from "@towpath/core/secret/schema";
import {
  changeSource,
  checkSource,
  deployGitUrl,
  getSource,
  makeSourceWebhookSecret,
  removeSourceWebhookSecret,
  updateGitSource,
} from "@towpath/core/source";
import {
  changeSourceSchema,
  deployGitUrlSchema,
  lookAtSourceSchema,
  updateGitSourceSchema,
} from "@towpath/core/source/schema";
import { z } from "zod";
import { lookIntoSource } from "../source-look/look.server.ts";
import { answers } from "./answers.schema.ts";
import { changedEntrypoint } from "./changed-entrypoint.ts";
import { type Operation, operation, organizationSlug } from "./operation.server.ts";
import { otherSource } from "./other-source.ts";
import { gitSource, lookedAtSource, sourceDetail } from "./project-source.schema.ts";
import { saveVariables } from "./settings.server.ts";

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

/** What belongs to the source. */
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
});

/**
 * Deploys the repository behind a Git URL (SRC-2): creates the server with its first build. On an existing server of the
 * same URL it changes what is given and builds the branch's newest commit, unless the newest build is of it.
 */
async function saveGitUrl(ctx: Context, input: z.output<typeof saveGitUrlSchema>) {
  const orgSlug = await organizationSlug(ctx, input.organization);
  const { name, gitUrl, variables } = input;
  const settings = settingsSchema.parse(input);
  const source = sourceSchema.parse(input);
  const existing = await findProjectOfInstance({ ctx, input: { name } });
  if (!existing) {
    const { requirements = null, rootDirectory = null, ...others } = settings;
    const deployed = await deployGitUrl({
      ctx,
      input: {
        ...{ ...others, ...source, requirements, rootDirectory },
        ...{ orgSlug, name, gitUrl, secrets: variables, trigger: "cli" },
      },
    });
    return { ...deployed, created: true };
  }
  if (existing.orgSlug !== orgSlug) throw unavailableName("taken");
  if (existing.source?.kind !== "git" || !isSameRepository(existing.source.url, gitUrl))
    throw otherSource(existing, "Choose another name, or change its source under Settings → Source.");
  const key = { orgSlug, projectName: existing.name };
  const changes = Object.entries(source).filter(([, value]) => value !== undefined && value !== null);
  if (changes.length > 0) await updateGitSource({ ctx, input: { ...key, ...Object.fromEntries(changes) } });
  const project = await updateProject({
    ctx,
    input: { ...settings, ...key, entrypoint: changedEntrypoint(settings.entrypoint) },
  });
  const hasChanged = await saveVariables(ctx, existing.id, variables);
  const reuse = hasChanged ? "never" : "unless-failed";
  const { build, created } = await startBuild({ ctx, input: { ...key, trigger: "cli", reuse } });
  return { project, build, created };
}

/** Whether two URLs name one repository, whatever they say of `.git`. */
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
  operation({
    method: "POST",
    path: "/git-urls",
    id: "saveGitUrl",
    permission: "project.create",
    summary:
      "deploys the repository behind a Git URL (`gitUrl`, `branch`, `credential` if it is private): creates a server with its first build, or changes its settings and builds the branch's newest commit",
    body: saveGitUrlSchema,
    answer: answers.savedPackage,
    handle: ({ ctx, body }) => saveGitUrl(ctx, body),
  }),
  operation({
    method: "POST",
    path: "/sources/look",
    id: "lookAtSource",
    permission: "project.create",
    summary:
      "what is in the repository that a `text` names (a URL, a link to a folder, `git clone …`), as New server shows it, without deploying",
    body: lookAtSourceSchema.extend({ organization: z.string().min(1).nullish() }),
    answer: lookedAtSource,
    handle: async ({ ctx, body: { organization, ...input } }) =>
      lookIntoSource({ ctx, input: { ...input, orgSlug: await organizationSlug(ctx, organization) } }),
  }),
  operation({
    method: "GET",
    path: "/projects/{name}/source",
    id: "readSource",
    permission: "project.read",
    summary: "where a server's code comes from, and when its Git URL was last asked",
    answer: z.object({ source: sourceDetail }),
    handle: async ({ ctx, project }) => ({ source: await getSource({ ctx, input: { projectId: project.id } }) }),
  }),
  operation({
    method: "PATCH",
    path: "/projects/{name}/source",
    id: "updateSource",
    permission: "project.update",
    summary:
      "changes the branch, previews or credential of its Git URL, or where states of builds are posted (`status`: `kind`, `token`); `null` removes a credential or `status`",
    body: updateGitSourceSchema,
    answer: gitSource,
    handle: ({ ctx, project, body }) => updateGitSource({ ctx, input: { ...body, projectId: project.id } }),
  }),
  operation({
    method: "PUT",
    path: "/projects/{name}/source",
    id: "changeSource",
    permission: "project.update",
    summary:
      "has it built from another Git URL from now on; its address, variables, logs and deployments stay, and the first commit there is built",
    body: changeSourceSchema,
    answer: z.object({ source: gitSource, build: answers.build.shape.build }),
    handle: ({ ctx, project, body }) => changeSource({ ctx, input: { ...body, projectId: project.id } }),
  }),
  operation({
    method: "POST",
    path: "/projects/{name}/source/check",
    id: "checkSource",
    permission: "project.update",
    summary: "asks its Git URL now, and builds what is new",
    answer: gitSource,
    handle: ({ ctx, project }) => checkSource({ ctx, input: { projectId: project.id } }),
  }),
  operation({
    method: "POST",
    path: "/projects/{name}/source/webhook-secret",
    id: "makeWebhookSecret",
    permission: "project.update",
    summary: "makes the secret for webhooks of its Git host, in place of an earlier one; it is shown this once",
    answer: z.object({ secret: z.string(), source: gitSource }),
    handle: ({ ctx, project }) => makeSourceWebhookSecret({ ctx, input: { projectId: project.id } }),
  }),
  operation({
    method: "DELETE",
    path: "/projects/{name}/source/webhook-secret",
    id: "removeWebhookSecret",
    permission: "project.update",
    summary: "removes it: webhooks are refused, and its Git URL is asked from time to time",
    answer: gitSource,
    handle: ({ ctx, project }) => removeSourceWebhookSecret({ ctx, input: { projectId: project.id } }),
  }),
];
