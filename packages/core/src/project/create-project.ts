import type { Transaction } from "@towpath/db";
import { branch, project } from "@towpath/db/schema";
import { audit } from "../audit/index.ts";
import { authorize } from "../authorize/index.ts";
import type { BuildView } from "../build/build.view.ts";
import { findBuildView } from "../build/build-view.ts";
import { enqueueBuild, insertBuild } from "../build/queue-build.ts";
import type { Context } from "../context/index.ts";
import { TowpathError } from "../errors/index.ts";
import { newId } from "../ids/index.ts";
import { parseInput } from "../input/index.ts";
import { findInstallation } from "../installation/installation.store.ts";
import { isReservedName } from "../reserved-names/index.ts";
import { insertVariables } from "../secret/secret.store.ts";
import { unavailable } from "./check-project-name.ts";
import { type CreateProjectInput, createProjectSchema } from "./project.schema.ts";
import { lockLabels, type ProjectRow, takenNames } from "./project.store.ts";
import type { ProjectView } from "./project.view.ts";
import { projectView } from "./project-view.ts";

/**
 * Creates a project, its default branch and its first build, all or nothing; the build starts when this commits
 * (ONB-4, ONB-5). Without a commit (empty repository) there is no build: the first push makes it.
 *
 * @throws TowpathError `invalid_input` for VAL-1 to VAL-3, a taken name (`fields.name`), or an installation that the
 * organization does not have.
 */
export async function createProject(call: {
  ctx: Context;
  input: CreateProjectInput;
}): Promise<{ readonly project: ProjectView; readonly build: BuildView | null }> {
  const { ctx } = call;
  const { organization } = await authorize(ctx, "project.create", { orgSlug: call.input.orgSlug });
  const input = parseInput(createProjectSchema, call.input);
  const created = await ctx.db.transaction(async (tx) => {
    await requireInstallation(tx, organization.id, input.installationId);
    await requireFreeName(tx, input.name);
    const { repository, commit, trigger, environmentVariables, ...settings } = input;
    const now = ctx.clock.now();
    const row = await insertProject(tx, {
      ...settings,
      id: newId(),
      organizationId: organization.id,
      repositoryId: repository.id,
      repositoryFullName: repository.fullName,
      repositoryPrivate: repository.private,
      defaultBranch: repository.defaultBranch,
      createdByUserId: ctx.actor.kind === "user" ? ctx.actor.userId : null,
      createdAt: now,
      updatedAt: now,
    });
    const branchId = newId();
    await tx
      .insert(branch)
      .values({ id: branchId, projectId: row.id, name: row.defaultBranch, isDefault: true, createdAt: now });
    await insertVariables(tx, ctx, row.id, environmentVariables);
    const queued = commit && (await insertBuild(tx, ctx, { project: row, branchId, commit, trigger }));
    if (queued) await enqueueBuild(tx, ctx, queued.id);
    await audit(tx, ctx, {
      organizationId: organization.id,
      projectId: row.id,
      action: "project.create",
      subject: row.name,
      detail: {
        repository: repository.fullName,
        trigger,
        authMode: row.authMode,
        variables: environmentVariables.map((each) => each.keyName),
      },
    });
    return { row, buildId: queued?.id ?? null };
  });
  return {
    project: projectView(ctx, created.row, { orgSlug: organization.slug, liveWarnings: null }),
    build: created.buildId === null ? null : await findBuildView(ctx, created.buildId),
  };
}

/** @throws TowpathError `invalid_input` when the organization has no such GitHub installation. */
export async function requireInstallation(
  tx: Transaction,
  organizationId: string,
  installationId: number,
): Promise<void> {
  if (await findInstallation(tx, organizationId, installationId)) return;
  const message = "GitHub is not connected for this account. Install the App there first.";
  throw new TowpathError("invalid_input", message, { fields: { installationId: message } });
}

async function requireFreeName(tx: Transaction, name: string): Promise<void> {
  await lockLabels(tx);
  const taken = (await takenNames(tx, [name.toLowerCase()])).size > 0;
  if (!taken && !isReservedName(name)) return;
  const { message } = unavailable(taken ? "taken" : "reserved");
  throw new TowpathError("invalid_input", message, { fields: { name: message } });
}

async function insertProject(tx: Transaction, values: typeof project.$inferInsert): Promise<ProjectRow> {
  const [row] = await tx.insert(project).values(values).returning();
  if (!row) throw new TowpathError("internal", "The project could not be created.");
  return row;
}
