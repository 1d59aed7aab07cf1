import { queryOptions } from "@tanstack/react-query";
import { createServerFn } from "@tanstack/react-start";
import { projectNameSchema } from "@towpath/core/projects/project/schema";
import {
  listRepositories as listRepositoriesVerb,
  makeGitCredential as makeGitCredentialVerb,
} from "@towpath/core/sources/repository";
import {
  changeSource as changeSourceVerb,
  checkSource as checkSourceVerb,
  deployGitUrl as deployGitUrlVerb,
  makeDeployKey as makeDeployKeyVerb,
  makeSourceWebhookSecret as makeSecret,
  getSource as readSource,
  removeSourceWebhookSecret as removeSecret,
  type SourceView,
  updateSource as updateSourceVerb,
} from "@towpath/core/sources/source";
import { continueOnGitHubSchema, gitHubNameSchema } from "@towpath/core/sources/source/github/schema";
import {
  changeSourceSchema,
  deployGitUrlSchema,
  lookAtSourceSchema,
  updateSourceSchema,
} from "@towpath/core/sources/source/schema";
import { z } from "zod";
import { deploySampleServer } from "~/features/onboarding/server-form/sample.server.ts";
import { type ProjectKey, projectKeySchema } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQueryKey } from "~/features/shared/project-screen/project-screen.functions.ts";
import { organizationAccess, projectAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";
import { queryOf } from "~/http/query-of.ts";
import { continueRepository } from "./continue.server.ts";
import { lookIntoSource } from "./look.server.ts";

const orgSlug = z.string().min(1).max(100);

/** Looks into a pasted Git URL: branches, the newest commit, and candidates from its files (SRC-2). */
export const lookAtSource = createServerFn({ method: "POST" })
  .middleware([organizationAccess("project.create")])
  .validator(input(lookAtSourceSchema.extend({ orgSlug })))
  .handler(({ context, data }) => lookIntoSource({ ctx: context.ctx, input: data }));

/**
 * A key pair for a private repository. The page gets the private key sealed, and sends it back with the URL (SRC-2).
 */
export const makeDeployKey = createServerFn({ method: "POST" })
  .middleware([organizationAccess("project.create")])
  .validator(input(z.object({ orgSlug })))
  .handler(({ context, data }) => makeDeployKeyVerb({ ctx: context.ctx, input: data }));

/** Creates the project of a Git URL and starts its first build (SRC-2). */
export const deployGitUrl = createServerFn({ method: "POST" })
  .middleware([organizationAccess("project.create")])
  .validator(input(deployGitUrlSchema.omit({ trigger: true }).extend({ orgSlug })))
  .handler(async ({ context, data }) => {
    const { project, build } = await deployGitUrlVerb({ ctx: context.ctx, input: data });
    return { projectName: project.pathName, buildId: build?.id ?? null };
  });

/** Makes a server of the sample, in a repository of this instance (SRC-4). */
export const deploySample = createServerFn({ method: "POST" })
  .middleware([organizationAccess("project.create")])
  .validator(input(z.object({ orgSlug, serverName: projectNameSchema })))
  .handler(({ context, data }) => deploySampleServer(context.ctx, data));

/** A project's source (SRC-1), without values of credentials. */
const getSource = createServerFn({ method: "GET" })
  .middleware([projectAccess("project.read")])
  .validator(input(projectKeySchema))
  .handler(({ context, data }) => readSource({ ctx: context.ctx, input: data }));

/**
 * Changes the branch that goes live, previews, a Git URL's credential or its build states; absent fields stay (SRC-1).
 */
export const updateSource = createServerFn({ method: "POST" })
  .middleware([projectAccess("project.update")])
  .validator(input(projectKeySchema.extend(updateSourceSchema.shape)))
  .handler(({ context, data }) => updateSourceVerb({ ctx: context.ctx, input: data }));

/** Changes a server's source to a Git URL; everything else of the server stays (SRC-1). */
export const changeSource = createServerFn({ method: "POST" })
  .middleware([projectAccess("project.update")])
  .validator(input(projectKeySchema.extend(changeSourceSchema.shape)))
  .handler(async ({ context, data }) => {
    const { build } = await changeSourceVerb({ ctx: context.ctx, input: data });
    return { buildId: build.id };
  });

/** A key for git that ends after some hours, with commands that work as they are (SRC-3). */
export const makeGitCredential = createServerFn({ method: "POST" })
  .middleware([organizationAccess("apiKey.create")])
  .validator(input(z.object({ orgSlug, name: z.string().min(1).max(100) })))
  .handler(({ context, data }) => makeGitCredentialVerb({ ctx: context.ctx, input: data }));

/** Repositories of this instance (SRC-3). */
const listRepositories = createServerFn({ method: "GET" })
  .middleware([organizationAccess("project.read")])
  .validator(input(z.object({ orgSlug })))
  .handler(({ context, data }) => listRepositoriesVerb({ ctx: context.ctx, input: data }));

export const repositoriesQuery = (slug: string) => queryOf(["repositories", slug], listRepositories, { orgSlug: slug });

/**
 * Moves a repository of this instance to a GitHub account, with every server that is built from it (SRC-3). May return
 * the URL at GitHub where the account's owner must agree first.
 */
export const continueOnGitHub = createServerFn({ method: "POST" })
  .middleware([organizationAccess("repository.continue")])
  .validator(input(continueOnGitHubSchema.extend(projectKeySchema.shape).extend({ gitHubName: gitHubNameSchema })))
  .handler(({ context, data }) => continueRepository({ signedIn: context.signedIn, ctx: context.ctx, input: data }));

/** Checks a repository for changed branches now (SRC-2, GH-6). */
export const checkSource = createServerFn({ method: "POST" })
  .middleware([projectAccess("build.start")])
  .validator(input(projectKeySchema))
  .handler(({ context, data }) => checkSourceVerb({ ctx: context.ctx, input: data }));

/** Makes the secret that a Git host signs its webhooks with; returned only this once (SRC-2). */
export const makeSourceWebhookSecret = createServerFn({ method: "POST" })
  .middleware([projectAccess("project.update")])
  .validator(input(projectKeySchema))
  .handler(({ context, data }) => makeSecret({ ctx: context.ctx, input: data }));

/** Removes it: webhooks are refused from then on (SRC-2). */
export const removeSourceWebhookSecret = createServerFn({ method: "POST" })
  .middleware([projectAccess("project.update")])
  .validator(input(projectKeySchema))
  .handler(({ context, data }) => removeSecret({ ctx: context.ctx, input: data }));

/** Interval of refetching the last check and the branch that goes live, milliseconds. */
const followMs = 10_000;

export const sourceQuery = (key: ProjectKey) =>
  queryOptions({
    queryKey: [...projectQueryKey(key), "source"],
    queryFn: ({ signal }): Promise<SourceView> => getSource({ data: key, signal }),
    refetchInterval: ({ state }) => (state.data === undefined || state.data.kind === "package" ? false : followMs),
    // The page takes what its loader read.
    staleTime: 2000,
  });
