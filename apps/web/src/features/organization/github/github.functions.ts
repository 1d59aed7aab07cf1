import { infiniteQueryOptions } from "@tanstack/react-query";
import { createServerFn } from "@tanstack/react-start";
import { gitHubHostName } from "@towpath/core/sources/github-connection/schema";
import {
  disconnectInstallation,
  listInstallations,
  listInstallationsOfUser,
  requireInstallation,
  requireInstallationOfUser,
} from "@towpath/core/sources/installation";
import { withGitHub } from "@towpath/github";
import { z } from "zod";
import { gitHub } from "~/compose.server.ts";
import { organizationAccess, selfAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";
import { queryOf } from "~/http/query-of.ts";
import { connectionsOf } from "./connections.server.ts";
import { listRepositories, readBranchAndRepository } from "./repositories.server.ts";

const orgSlug = z.string().min(1).max(100);
const installationId = z.number().int().positive();
const page = z.number().int().min(1).max(100).default(1);
const plainName = z.string().regex(/^[\w.-]{1,100}$/, "A repository has a plain name");
const repositoryInput = z.object({ orgSlug, installationId, owner: plainName, name: plainName });

/**
 * The GitHub App for screens (GH-1); null if none is configured. `apps`: all Apps whose accounts can be connected.
 */
export const getGitHubApp = createServerFn({ method: "GET" })
  .middleware([organizationAccess("organization.read")])
  .validator(input(z.object({ orgSlug })))
  .handler(async () => {
    const all = await gitHub().all();
    if (all.length === 0) return null;
    const { appSlug, url } = (await gitHub().preferred()).github.config;
    const apps = all.map(({ number, github }) => ({
      connection: number,
      hostName: gitHubHostName(github.config.url),
    }));
    return { appSlug, url, apps };
  });

/** The organization's installations (GH-1). */
const getInstallations = createServerFn({ method: "GET" })
  .middleware([organizationAccess("installation.read")])
  .validator(input(z.object({ orgSlug })))
  .handler(({ context, data }) => listInstallations({ ctx: context.ctx, input: data }));

/**
 * The installations of all organizations of the signed-in user, by their own GitHub user id (GH-4).
 *
 * @public
 */
export const getInstallationsOfUser = createServerFn({ method: "GET" })
  .middleware([selfAccess])
  .validator(input(z.object({ githubUserId: z.number().int().positive() })))
  .handler(({ context, data }) => listInstallationsOfUser({ ctx: context.ctx, input: data }));

/** A page of an installation's repositories, up to 100 (GH-1). */
export const getInstallationRepositories = createServerFn({ method: "POST" })
  .middleware([organizationAccess("installation.read")])
  .validator(input(z.object({ orgSlug, installationId, page })))
  .handler(async ({ context, data }) => {
    await requireInstallation({ ctx: context.ctx, input: data });
    return listRepositories(data);
  });

/**
 * The same for the signed-in user, of any of their organizations (GH-4).
 *
 * @public
 */
export const getRepositories = createServerFn({ method: "POST" })
  .middleware([selfAccess])
  .validator(input(z.object({ installationId, userId: z.uuid(), page })))
  .handler(async ({ context, data }) => {
    await requireInstallationOfUser({ ctx: context.ctx, input: data });
    return listRepositories(data);
  });

/** A repository, the head of a branch (default: its default branch), and files that may be the server (ONB-5, ONB-12). */
export const getBranchAndRepository = createServerFn({ method: "POST" })
  .middleware([organizationAccess("installation.read")])
  .validator(input(repositoryInput.extend({ branch: z.string().min(1).max(255).optional() })))
  .handler(async ({ context, data }) => {
    // Check the organization's permission to read before any call to GitHub.
    await requireInstallation({ ctx: context.ctx, input: data });
    return readBranchAndRepository(data);
  });

/** Whether a path is a file of a repository, at a commit, branch or tag (GH-1). */
export const verifyFileExists = createServerFn({ method: "POST" })
  .middleware([organizationAccess("installation.read")])
  .validator(input(repositoryInput.extend({ path: z.string().min(1).max(255), ref: z.string().min(1).max(255) })))
  .handler(async ({ context, data }) => {
    const { ref, path, ...address } = data;
    await requireInstallation({ ctx: context.ctx, input: data });
    return { exists: await withGitHub(() => gitHub().fileExists(address, path, ref)) };
  });

/** The organization's installations as they are at GitHub now (ONB-2). */
const getConnections = createServerFn({ method: "GET" })
  .middleware([organizationAccess("installation.read")])
  .validator(input(z.object({ orgSlug })))
  .handler(({ context, data }) => connectionsOf(context.ctx, data.orgSlug));

/** Disconnects an account from the organization; the App stays installed at GitHub. */
export const disconnect = createServerFn({ method: "POST" })
  .middleware([organizationAccess("installation.disconnect")])
  .validator(input(z.object({ orgSlug, installationId })))
  .handler(async ({ context, data }) => {
    await disconnectInstallation({ ctx: context.ctx, input: data });
  });

export const installationsQuery = (orgSlug: string) =>
  queryOf(["installations", orgSlug], getInstallations, { orgSlug }, { staleTime: 30_000 });

/** Below the key of the installations, so that connecting and disconnecting refetches it. */
export const connectionsQuery = (orgSlug: string) =>
  queryOf(["installations", orgSlug, "connections"], getConnections, { orgSlug }, { staleTime: 10_000 });

export const repositoriesQuery = (orgSlug: string, id: number) =>
  infiniteQueryOptions({
    queryKey: ["repositories", orgSlug, id],
    queryFn: ({ pageParam, signal }) =>
      getInstallationRepositories({ data: { orgSlug, installationId: id, page: pageParam }, signal }),
    initialPageParam: 1,
    getNextPageParam: ({ nextPage }) => nextPage,
    staleTime: 30_000,
  });

export type { Connection } from "./connections.server.ts";
