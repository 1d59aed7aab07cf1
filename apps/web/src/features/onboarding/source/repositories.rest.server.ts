import type { Context } from "@towpath/core/context";
import { TowpathError } from "@towpath/core/errors";
import {
  createRepository,
  deleteRepository,
  getRepository,
  listRepositories,
  uploadCommit,
} from "@towpath/core/sources/repository";
import { createRepositorySchema } from "@towpath/core/sources/repository/schema";
import { continueOnGitHub } from "@towpath/core/sources/source";
import { continueOnGitHubSchema } from "@towpath/core/sources/source/github/schema";
import { z } from "zod";
import { answers } from "~/features/shared/answers/answers.server.ts";
import { type Operation, operation, organizationSlug } from "~/http/rest/operation.server.ts";

const ofOrganization = z.object({ organization: z.string().min(1).optional() });

/** As a query has it: all values are texts. */
const commitQuerySchema = ofOrganization.extend({
  branch: z.string().optional(),
  message: z.string().optional(),
  /** Empty: the branch must not exist. */
  expectedHead: z.string().optional(),
});

async function commitArchive(
  ctx: Context<"instanceRepositories">,
  { name, archive, query }: { name: string; archive: Request["body"]; query: z.output<typeof commitQuerySchema> },
) {
  if (archive === null) throw new TowpathError("invalid_input", "Send a zip or a (gzipped) tar archive as the body.");
  const { organization, expectedHead, ...more } = query;
  const head = expectedHead === undefined ? {} : { expectedHead: expectedHead || null };
  const orgSlug = await organizationSlug(ctx, organization);
  const made = await uploadCommit({ ctx, input: { ...more, ...head, orgSlug, name, archive } });
  return { ...made, leftOut: [...made.leftOut] };
}

/** Repositories of this instance (SRC-3). */
export const repositoryOperations: readonly Operation[] = [
  operation("GET /repositories", "listRepositories", "project.read", {
    summary: "the repositories of this instance that an organization has, with their servers",
    query: ofOrganization,
    answer: answers.repositories,
    handle: async ({ ctx, query }) => {
      const orgSlug = await organizationSlug(ctx, query.organization);
      return { data: [...(await listRepositories({ ctx, input: { orgSlug } }))] };
    },
  }),
  operation("POST /repositories", "createRepository", "project.create", {
    summary: "makes an empty repository, to be pushed to at its `url` with an API key as the password",
    body: createRepositorySchema.omit({ madeBy: true }).extend({ organization: z.string().min(1).nullish() }),
    answer: answers.repository,
    handle: async ({ ctx, body: { organization, ...input } }) =>
      createRepository({ ctx, input: { ...input, orgSlug: await organizationSlug(ctx, organization) } }),
  }),
  operation("GET /repositories/{repository}", "readRepository", "project.read", {
    summary: "one of them",
    query: ofOrganization,
    answer: answers.repository,
    handle: async ({ ctx, params, query }) => {
      const orgSlug = await organizationSlug(ctx, query.organization);
      return getRepository({ ctx, input: { orgSlug, name: params.repository } });
    },
  }),
  operation("DELETE /repositories/{repository}", "deleteRepository", "project.delete", {
    summary: "deletes it with all its commits, unless a server is built from it; `confirmation` is its name",
    body: z.object({ confirmation: z.string(), organization: z.string().min(1).nullish() }),
    answer: answers.deleted,
    handle: async ({ ctx, params, body }) => {
      const orgSlug = await organizationSlug(ctx, body.organization);
      const { confirmation } = body;
      return deleteRepository({ ctx, input: { orgSlug, name: params.repository, confirmation } });
    },
  }),
  operation("POST /repositories/{repository}/continue", "continueRepository", "repository.continue", {
    summary:
      "moves it to a connected GitHub account (`installationId`) with its history, as a new repository (`gitHubName`, `private`) or an empty one of that name, and builds its servers from there; it is read-only from then on",
    body: continueOnGitHubSchema.omit({ repository: true }).extend({ organization: z.string().min(1).nullish() }),
    answer: answers.continuedRepository,
    handle: async ({ ctx, params: { repository }, body: { organization, ...input } }) => {
      const orgSlug = await organizationSlug(ctx, organization);
      const moved = await continueOnGitHub({ ctx, input: { ...input, repository, orgSlug, userToken: null } });
      return { ...moved, servers: [...moved.servers] };
    },
  }),
  operation("POST /repositories/{repository}/commits", "commitArchive", "build.start", {
    summary:
      "commits the files of an archive, which is the body (zip, tar or gzipped tar, up to 256 MB), to a branch (`branch`, `message`; `expectedHead`: the commit that the branch must be at); what is built from it is built",
    query: commitQuerySchema,
    bodyMediaTypes: ["application/zip", "application/gzip", "application/x-tar"],
    answer: answers.archiveCommit,
    handle: ({ ctx, params, query, request }) =>
      commitArchive(ctx, { name: params.repository, archive: request.body, query }),
  }),
];
