import { authorize, authorizeProject } from "@towpath/core/authorize";
import type { Context } from "@towpath/core/context";
import { TowpathError } from "@towpath/core/errors";
import { listInstallations, recordInstallation } from "@towpath/core/installation";
import { findProjectOfInstance, type ProjectDetailView, requireFreeName, unavailableName } from "@towpath/core/project";
import { projectNameSchema } from "@towpath/core/project/schema";
import { type ForgeAdmin, type ForgePushTarget, findLocalForge, isGitHubError, withGitHub } from "@towpath/github";
import { z } from "zod";
import { services } from "~/compose.server.ts";
import { answers } from "./answers.schema.ts";
import { type Operation, operation, organizationSlug } from "./operation.server.ts";
import { otherSource } from "./other-source.ts";

/** Where Git reaches repositories of the forge with an API key: `/api/git/{organization}/{name}.git`. */
const gitPath = "/api/git";

const newRepositorySchema = z.object({ name: projectNameSchema, organization: z.string().min(1).nullish() });

/**
 * Finds or creates the repository of the local forge that `towpath deploy` pushes a server of this name to.
 * Idempotent.
 *
 * @throws TowpathError `conflict` when the server deploys from a repository that the CLI did not create, or a user has
 * one of this name: the CLI replaces a repository's content and must not overwrite a user's work.
 */
export async function createForgeRepository(ctx: Context, input: z.output<typeof newRepositorySchema>) {
  const forge = await localForge();
  const existing = await findProjectOfInstance({ ctx, input: { name: input.name } });
  // A redeploy needs no --organization: names are unique.
  const slug = input.organization ?? existing?.orgSlug;
  const orgSlug = await organizationSlug(ctx, slug);
  if (existing && existing.orgSlug !== orgSlug) throw unavailableName("taken");
  if (existing) await authorizeProject(ctx, "build.start", { projectId: existing.id });
  else {
    await authorize(ctx, "project.create", { orgSlug });
    await requireFreeName(ctx.db, input.name);
  }
  const target = existing
    ? await repositoryOfProject(forge, existing)
    : await newRepository(ctx, forge, orgSlug, input.name);
  const { repository, pushUrl } = target;
  return {
    organization: orgSlug,
    pushUrl,
    installationId: target.installationId,
    repository: {
      id: repository.id,
      fullName: repository.full_name,
      private: repository.private,
      defaultBranch: repository.default_branch,
    },
    project: existing && { name: existing.name, pathName: existing.pathName, authMode: existing.authMode },
  };
}

async function forgeAccount(ctx: Context, forge: ForgeAdmin, orgSlug: string) {
  const [connected] = await listInstallations({ ctx, input: { orgSlug } });
  const login = connected?.accountLogin ?? orgSlug;
  return withGitHub(async () => {
    await forge.ensureAccount({ login });
    const { installationId } = await forge.ensureInstallation({ login });
    // Whoever may create a server may use the instance's own forge.
    const platform = services().contextFor({ kind: "job", job: "forge.account" });
    const installation = { orgSlug, installationId, accountLogin: login, accountType: "User" } as const;
    await recordInstallation({ ctx: platform, input: installation });
    return { login, installationId };
  });
}

type Target = ForgePushTarget & { readonly installationId: number };

async function newRepository(ctx: Context, forge: ForgeAdmin, orgSlug: string, name: string): Promise<Target> {
  const { login: owner, installationId } = await forgeAccount(ctx, forge, orgSlug);
  const target = await cliRepository(forge, owner, name);
  if (target) return { ...target, installationId };
  throw new TowpathError(
    "conflict",
    `The terminal did not create the repository ${owner}/${name}, so it won't write to it. ` +
      "Choose another --name, or connect that repository in the dashboard and push to it.",
  );
}

/** The repository must have the server's name, so that a push never replaces the content of another server's. */
async function repositoryOfProject(forge: ForgeAdmin, project: ProjectDetailView): Promise<Target> {
  const connected = project.githubRepository;
  const [owner, name] = connected?.fullName.split("/") ?? [];
  const hasServerName = name?.toLowerCase() === project.name.toLowerCase();
  if (connected?.installationId && owner && name && hasServerName) {
    const target = await cliRepository(forge, owner, name);
    if (target?.repository.id === connected.id) return { ...target, installationId: connected.installationId };
  }
  if (!connected) throw otherSource(project, "Choose another --name for this folder.");
  throw new TowpathError(
    "conflict",
    `${project.name} deploys from the repository ${connected.fullName}, which the terminal did not create. ` +
      `Push to ${connected.fullName} to deploy it, or choose another --name for this folder.`,
  );
}

/** Null when a user created the repository of this name, or the forge has no such account. */
async function cliRepository(forge: ForgeAdmin, owner: string, name: string): Promise<ForgePushTarget | null> {
  return withGitHub(async () => {
    try {
      return await forge.ensureRepository({ owner, name });
    } catch (error) {
      if (isGitHubError(error, "conflict") || isGitHubError(error, "not_found")) return null;
      throw error;
    }
  });
}

async function localForge(): Promise<ForgeAdmin> {
  const { gitHub } = services().config;
  const forge = gitHub && (await findLocalForge(gitHub));
  if (forge) return forge;
  const message = "This instance has no local forge. Push to GitHub, and it deploys from there.";
  throw new TowpathError("not_configured", message);
}

export const repositoryOperations: readonly Operation[] = [
  operation({
    method: "POST",
    path: "/repositories",
    id: "createRepository",
    permission: "project.create",
    summary: "finds or creates the repository at the forge of this instance that a server of this name is pushed to",
    body: newRepositorySchema,
    answer: answers.repository,
    handle: async ({ ctx, body }) => {
      const target = await createForgeRepository(ctx, body);
      if (ctx.actor.kind === "operator") return target;
      // The forge's own credential outlives a key: keys push through this instance instead, which checks them each time.
      const path = `${gitPath}/${target.organization}/${body.name}.git`;
      return { ...target, pushUrl: `${services().config.baseUrl}${path}` };
    },
  }),
];
