import { branch, build, repository, route } from "@towpath/db/schema";
import { and, eq, isNotNull } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import { authorizeProject, type ProjectScope } from "../../authorize/index.ts";
import { getAccess } from "../../calling/access/index.ts";
import type { Call, Context, ProjectAccess } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { settingsOf } from "../../projects/project/internal.ts";
import { projectKindOf } from "../../projects/project/project.schema.ts";
import { listSecrets } from "../../projects/secret/index.ts";
import { type BuiltFrom, builtFromNow, builtFromOf, sourceOf } from "../../sources/source/internal.ts";
import type { BuildManifest, Layers } from "../build/build-contract.schema.ts";
import { auditedVersion, readLayers, readManifest, readProgram, selectBuilds } from "../build/internal.ts";
import { type ExportDocument, exportFormat } from "./export.schema.ts";

/**
 * What is live of a server, for an export. `layers`: its code and dependencies as built; `repositoryId`: the repository
 * of this instance whose history goes with it; null: none.
 */
export type ServerExport = {
  readonly document: ExportDocument;
  readonly surface: BuildManifest;
  readonly layers: Layers;
  readonly repositoryId: string | null;
};

type LiveBuild = Awaited<ReturnType<typeof selectBuilds>>[number];

/**
 * What an export has of a server, for who may read its source, its settings and the names of its variables (OPS-8). It
 * never has their values. The audit log says who exported it.
 *
 * @throws TowpathError `conflict` when nothing is live, for a server that isn't built here, and for a build by an earlier
 *   release that doesn't say what it is of
 */
export async function exportServer({ ctx, input }: Call<ProjectScope>): Promise<ServerExport> {
  const access = await authorizeProject(ctx, "secret.read", input);
  const { project, organization } = access;
  const row = await liveBuild(ctx, access);
  const layers = readLayers(row.build.layers);
  const program = readProgram(row.build.program);
  const from = builtFromOf(row.build, project, await builtFromNow(ctx.db, project));
  if (layers === null || program === null || from === null) throw unknownBuild(project.name);
  const repositoryId = await storedRepository(ctx, organization.id, from);
  const document = {
    format: exportFormat,
    exportedAt: ctx.clock.now().toISOString(),
    name: project.name,
    python: layers.pythonVersion,
    program,
    source: sourceIn(access, row, from, repositoryId !== null),
    settings: settingsOf(project),
    access: await accessOf(ctx, project.id),
    variables: await variablesOf(ctx, project.id),
  } satisfies ExportDocument;
  await ctx.db.transaction((tx) =>
    audit(tx, ctx, {
      organizationId: organization.id,
      projectId: project.id,
      action: "project.export",
      subject: project.name,
      detail: auditedVersion(row.build),
    }),
  );
  return { document, surface: readManifest(row.build.manifest), layers, repositoryId };
}

async function liveBuild(ctx: Context, { project }: ProjectAccess): Promise<LiveBuild> {
  if (projectKindOf(project) !== "hosted") {
    const message = `${project.name} is not built here, so there is nothing to export: it only names servers elsewhere or others of this instance.`;
    throw new TowpathError("conflict", message);
  }
  const isLive = and(eq(build.projectId, project.id), isNotNull(route.deploymentId), eq(branch.isDefault, true));
  const [row] = await selectBuilds(ctx.db, isLive).limit(1);
  if (row) return row;
  throw new TowpathError("conflict", `Nothing of ${project.name} is live. Deploy it, then export what is live.`);
}

const unknownBuild = (name: string) =>
  new TowpathError(
    "conflict",
    `The live version of ${name} was built by an earlier release, which didn't record what an export needs. Build it again, then export it.`,
  );

/** Null for what isn't of this instance, and for a repository that was deleted. */
async function storedRepository(ctx: Context, organizationId: string, from: BuiltFrom): Promise<string | null> {
  if (from.kind !== "repository") return null;
  const own = and(eq(repository.organizationId, organizationId), eq(repository.id, from.repositoryId));
  return (await ctx.db.$count(repository, own)) > 0 ? from.repositoryId : null;
}

function sourceIn(
  { project }: ProjectAccess,
  { build: built, branch: of }: LiveBuild,
  from: BuiltFrom,
  hasHistory: boolean,
): ExportDocument["source"] {
  const at = { branch: of.name, commit: built.commitSha };
  switch (from.kind) {
    case "repository":
      return { kind: from.kind, name: from.fullName.split("/").at(-1) ?? from.fullName, ...at, hasHistory };
    case "git":
      return { kind: from.kind, url: from.url, ...at };
    case "github":
      return { kind: from.kind, fullName: from.fullName, ...at };
    case "package": {
      const now = sourceOf(project);
      const follows = now?.kind === "package" && now.follows;
      return { kind: from.kind, name: from.name, version: built.packageVersion ?? "", follows };
    }
  }
}

async function accessOf(ctx: Context, projectId: string): Promise<ExportDocument["access"]> {
  const { roles, apiKeys, tools, revision } = await getAccess({ ctx, input: { projectId } });
  // 0: nothing was ever set.
  if (revision === 0) return null;
  return {
    roles: [...roles],
    apiKeys: apiKeys === "all" ? apiKeys : "chosen",
    tools: tools === "all" ? tools : [...tools],
  };
}

async function variablesOf(ctx: Context, projectId: string): Promise<ExportDocument["variables"]> {
  const secrets = await listSecrets({ ctx, input: { projectId } });
  return secrets.map(({ keyName, description, sensitive, perCaller, environments }) => ({
    keyName,
    description,
    sensitive,
    perCaller,
    environments: [...environments],
  }));
}
