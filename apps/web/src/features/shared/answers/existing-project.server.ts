import type { Context } from "@towpath/core/context";
import { TowpathError } from "@towpath/core/errors";
import {
  findProjectOfInstance,
  type ProjectDetailView,
  unavailableName,
  updateProject,
} from "@towpath/core/projects/project";
import { setSecrets } from "@towpath/core/projects/secret";

// How operations that deploy treat an existing server.

type Sourced = Pick<ProjectDetailView, "name" | "source">;

/** The source of a server in a sentence. */
function sourceText(source: NonNullable<Sourced["source"]>): string {
  if (source.kind === "git") return source.url;
  if (source.kind === "package") return `the package ${source.name}`;
  return `the repository ${source.kind === "repository" ? source.name : source.fullName}`;
}

type ProjectKey = { readonly orgSlug: string; readonly projectName: string };

type Deployed = {
  readonly orgSlug: string;
  readonly name: string;
  /** Those that were given. An empty entrypoint: each build finds it (BLD-16). */
  readonly settings: Omit<Parameters<typeof updateProject>[0]["input"], keyof ProjectKey>;
  readonly variables: readonly { readonly keyName: string; readonly secretValue: string }[];
  /** Whether the server is built from what is deployed. */
  readonly isSame: (of: ProjectDetailView) => boolean;
  /** What to do if it isn't. */
  readonly remedy?: string;
  /** What else changes, first. */
  readonly change?: (key: ProjectKey) => Promise<unknown>;
};

/**
 * Changes the settings and variables of the server that is deployed again, the latter all or none; new ones are for
 * production and previews. Null: there is no server of this name yet. `reuse`: which builds are as good as a new one.
 *
 * @throws TowpathError `conflict` for a server of another source, `invalid_input` for one of another organization
 */
export async function saveExisting(ctx: Context<"secrets">, deployed: Deployed) {
  const { orgSlug, name, settings, variables, isSame, remedy, change } = deployed;
  const existing = await findProjectOfInstance({ ctx, input: { name } });
  if (!existing) return null;
  if (existing.orgSlug !== orgSlug) throw unavailableName("taken");
  if (!isSame(existing)) throw otherSource(existing, remedy);
  const key = { orgSlug, projectName: existing.name };
  await change?.(key);
  const entrypoint = settings.entrypoint === "" ? null : settings.entrypoint;
  const project = await updateProject({ ctx, input: { ...settings, ...key, entrypoint } });
  if (variables.length > 0) await setSecrets({ ctx, input: { projectId: existing.id, secrets: [...variables] } });
  return { key, project, reuse: variables.length > 0 ? "never" : "unless-failed" } as const;
}

/** The error when a server is deployed from another source than its own. */
export function otherSource({ name, source }: Sourced, remedy = "Choose another name."): TowpathError {
  const text = source === null ? "is not built here" : `deploys from ${sourceText(source)}`;
  return new TowpathError("conflict", `${name} ${text}. ${remedy}`);
}
