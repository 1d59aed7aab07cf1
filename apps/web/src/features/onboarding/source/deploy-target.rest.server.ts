import { authorize, authorizeProject } from "@towpath/core/authorize";
import type { Context } from "@towpath/core/context";
import { TowpathError } from "@towpath/core/errors";
import {
  findProjectOfInstance,
  type ProjectDetailView,
  requireFreeName,
  unavailableName,
} from "@towpath/core/projects/project";
import { projectNameSchema } from "@towpath/core/projects/project/schema";
import { createRepository, listRepositories, type RepositoryView } from "@towpath/core/sources/repository";
import { z } from "zod";
import { answers } from "~/features/shared/answers/answers.server.ts";
import { otherSource } from "~/features/shared/answers/existing-project.server.ts";
import { type Operation, operation, organizationSlug } from "~/http/rest/operation.server.ts";

const targetSchema = z.object({ name: projectNameSchema, organization: z.string().min(1).nullish() });

/**
 * Finds or creates the repository of this instance that `towpath deploy DIR` pushes a server of this name to.
 * Idempotent.
 *
 * @throws TowpathError `conflict` if the server is built from a source that the terminal didn't make, or another
 * repository has its name: the terminal replaces a repository's content and must not overwrite anybody's work.
 */
async function prepareDeploy(ctx: Context<"instanceRepositories">, input: z.output<typeof targetSchema>) {
  const existing = await findProjectOfInstance({ ctx, input: { name: input.name } });
  // A redeploy needs no --organization: names are unique.
  const orgSlug = await organizationSlug(ctx, input.organization ?? existing?.orgSlug);
  if (existing && existing.orgSlug !== orgSlug) throw unavailableName("taken");
  if (existing) await authorizeProject(ctx, "build.start", { projectId: existing.id });
  else {
    await authorize(ctx, "project.create", { orgSlug });
    await requireFreeName(ctx.db, input.name);
  }
  const known = await listRepositories({ ctx, input: { orgSlug } });
  const found = existing
    ? repositoryOf(existing, known)
    : known.find(({ name }) => name === repositoryName(input.name));
  const repository = found ?? (await make(ctx, orgSlug, repositoryName(input.name)));
  if (!existing) requireUnused(repository);
  const { name, defaultBranch } = repository;
  return {
    organization: orgSlug,
    repository: { name, defaultBranch },
    project: existing && { name: existing.name, pathName: existing.pathName, authMode: existing.authMode },
  };
}

const repositoryName = (serverName: string) => serverName.toLowerCase();

const make = (ctx: Context<"instanceRepositories">, orgSlug: string, name: string) =>
  createRepository({ ctx, input: { orgSlug, name, madeBy: "deploy" } });

/** A push to a repository of several servers would replace the code of all. */
function repositoryOf(project: ProjectDetailView, known: readonly RepositoryView[]): RepositoryView {
  const { source } = project;
  const found = source?.kind === "repository" ? known.find(({ name }) => name === source.name) : undefined;
  if (found?.madeBy === "deploy" && found.servers.length === 1) return found;
  throw otherSource(project, `The terminal did not make that for ${project.name} alone. ${remedyOf(project)}`);
}

function remedyOf({ source }: ProjectDetailView): string {
  const another = "choose another --name for this folder.";
  if (source?.kind === "github") return `Push to ${source.fullName} to deploy it, or ${another}`;
  if (source?.kind === "repository") return `Push to ${source.name} to deploy it, or ${another}`;
  return `To deploy this folder, ${another}`;
}

function requireUnused({ name, madeBy, servers, continued }: RepositoryView): void {
  if (continued !== null) {
    const message = `The repository ${name} continues on GitHub as ${continued.fullName}, and takes no pushes here. Choose another --name, or push there.`;
    throw new TowpathError("conflict", message);
  }
  if (madeBy === "deploy" && servers.length === 0) return;
  throw new TowpathError(
    "conflict",
    `The terminal did not create the repository ${name}, so it won't write to it. Choose another --name, or deploy that repository in the dashboard and push to it.`,
  );
}

export const deployTargetOperations: readonly Operation[] = [
  operation("POST /deploy-targets", "prepareDeploy", "project.create", {
    summary:
      "finds or creates the repository of this instance that `towpath deploy DIR` pushes a server of this name to",
    body: targetSchema,
    answer: answers.deployTarget,
    handle: ({ ctx, body }) => prepareDeploy(ctx, body),
  }),
];
