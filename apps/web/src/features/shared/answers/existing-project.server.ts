import type { Context } from "@towpath/core/context";
import { TowpathError } from "@towpath/core/errors";
import type { ProjectDetailView } from "@towpath/core/projects/project";
import { setSecrets } from "@towpath/core/projects/secret";

// How operations that deploy treat an existing server.

type Sourced = Pick<ProjectDetailView, "name" | "source">;

/** The source of a server in a sentence. */
function sourceText(source: NonNullable<Sourced["source"]>): string {
  if (source.kind === "git") return source.url;
  if (source.kind === "package") return `the package ${source.name}`;
  return `the repository ${source.kind === "repository" ? source.name : source.fullName}`;
}

/** The error when a server is deployed from another source than its own. */
export function otherSource({ name, source }: Sourced, remedy = "Choose another name."): TowpathError {
  const text = source === null ? "is not built here" : `deploys from ${sourceText(source)}`;
  return new TowpathError("conflict", `${name} ${text}. ${remedy}`);
}

/** Converts a deployment's empty entrypoint to null in the settings: each build finds it (BLD-16). */
export const changedEntrypoint = (given: string | undefined): string | null | undefined =>
  given === "" ? null : given;

/**
 * Creates or changes variables, all or none; new ones are for production and previews. Returns whether there were any.
 */
export async function saveVariables(
  ctx: Context<"secrets">,
  projectId: string,
  variables: readonly { readonly keyName: string; readonly secretValue: string }[],
): Promise<boolean> {
  if (variables.length === 0) return false;
  await setSecrets({ ctx, input: { projectId, secrets: [...variables] } });
  return true;
}
