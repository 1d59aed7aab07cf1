import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { createServerFn } from "@tanstack/react-start";
import { listInstallations, requireInstallation } from "@towpath/core/installation";
import { withGitHub } from "@towpath/github";
import { z } from "zod";
import { gitHub, services } from "~/compose.server.ts";
import { organizationAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";
import { entrypointCandidates } from "./repository-proposals.ts";
import { beginRoundTrip, callbackUrl } from "./round-trip.server.ts";

const orgSlug = z.string().min(1).max(100);
const installationId = z.number().int().positive();
const repositoryName = z.string().regex(/^[\w.-]{1,100}$/, "A repository has a plain name");
const address = z.object({ orgSlug, installationId, owner: repositoryName, name: repositoryName });

/** What screens need to know about the GitHub App (GH-1); null when none is configured. */
export const getGitHubApp = createServerFn({ method: "GET" })
  .middleware([organizationAccess("organization.read")])
  .validator(input(z.object({ orgSlug })))
  .handler(() => {
    const { gitHub: client } = services();
    if (!client) return null;
    const { appSlug, url } = client.config;
    return { appSlug, url, isLocalForge: /^(localhost|127\.)/.test(new URL(url).hostname) };
  });

/** The GitHub URL that starts connecting an account (ONB-2). */
export const beginConnection = createServerFn({ method: "POST" })
  .middleware([organizationAccess("installation.manage")])
  .validator(input(z.object({ orgSlug, otherAccount: z.boolean().default(false) })))
  .handler(async ({ context, data }) => {
    const { sessionId } = context.signedIn;
    if (data.otherAccount) {
      return {
        url: gitHub().installUrl(await beginRoundTrip(sessionId, { purpose: "install", orgSlug: data.orgSlug })),
      };
    }
    const state = await beginRoundTrip(sessionId, { purpose: "connect", orgSlug: data.orgSlug });
    return { url: gitHub().userAuthorizeUrl({ state, redirectUri: callbackUrl() }) };
  });

/** The organization's installations (GH-1). */
export const getInstallations = createServerFn({ method: "GET" })
  .middleware([organizationAccess("installation.read")])
  .validator(input(z.object({ orgSlug })))
  .handler(({ context, data }) => listInstallations({ ctx: context.ctx, input: data }));

/** A page of an installation's repositories, up to 100 (GH-1). */
const getRepositories = createServerFn({ method: "GET" })
  .middleware([organizationAccess("installation.read")])
  .validator(input(z.object({ orgSlug, installationId, page: z.number().int().min(1).max(100).default(1) })))
  .handler(async ({ context, data }) => {
    await requireInstallation({ ctx: context.ctx, input: data });
    const { items, nextPage } = await withGitHub(() => gitHub().repositories(data.installationId, data.page));
    // GitHub may send a clone token: keep it from the browser.
    const repositories = items.map(({ temp_clone_token: _secret, ...repository }) => repository);
    return { data: repositories, nextPage };
  });

/** A repository, the head of its default branch, and files that may be the server (ONB-5, ONB-12). */
export const getRepositoryForDeploy = createServerFn({ method: "GET" })
  .middleware([organizationAccess("installation.read")])
  .validator(input(address))
  .handler(async ({ context, data }) => {
    // The organization's right to read comes before any call to GitHub.
    const { orgSlug, installationId, owner, name } = data;
    await requireInstallation({ ctx: context.ctx, input: { orgSlug, installationId } });
    const where = { installationId, owner, name };
    return withGitHub(async () => {
      const { temp_clone_token: _secret, ...repository } = await gitHub().repository(where);
      const [branch, tree] = await Promise.all([
        gitHub()
          .branch(where, repository.default_branch)
          .catch(() => null),
        gitHub()
          .listFiles(where, repository.default_branch)
          .catch(() => null),
      ]);
      const files = tree?.files.map(({ path }) => path) ?? [];
      return { repository, branch, ...entrypointCandidates(files) };
    });
  });

export const installationsQuery = (orgSlug: string) =>
  queryOptions({
    queryKey: ["installations", orgSlug],
    queryFn: ({ signal }) => getInstallations({ data: { orgSlug }, signal }),
    staleTime: 30_000,
  });

export const repositoriesQuery = (orgSlug: string, installationId: number) =>
  infiniteQueryOptions({
    queryKey: ["repositories", orgSlug, installationId],
    queryFn: ({ pageParam, signal }) => getRepositories({ data: { orgSlug, installationId, page: pageParam }, signal }),
    initialPageParam: 1,
    getNextPageParam: ({ nextPage }) => nextPage,
    staleTime: 30_000,
  });
