import type { Context } from "@towpath/core/context";
import { TowpathError } from "@towpath/core/errors";
import type { ProjectDetailView } from "@towpath/core/project";
import { setSecrets } from "@towpath/core/secret";

// What operations that deploy do with a server that exists already.

type Sourced = Pick<ProjectDetailView, "name" | "source">;

/** What a server that is built here is built from, in a sentence. */
function sourceText(source: NonNullable<Sourced["source"]>): string {
  if (source.kind === "git") return source.url;
  if (source.kind === "package") return `the package ${source.name}`;
  return `the repository ${source.kind === "repository" ? source.name : source.fullName}`;
}

/** The refusal to deploy to a server from something else than what it is built from. */
export function otherSource({ name, source }: Sourced, remedy = "Choose another name."): TowpathError {
  const text = source === null ? "is not built here" : `deploys from ${sourceText(source)}`;
  return new TowpathError("conflict", `${name} ${text}. ${remedy}`);
}

/** A deployment may pass an empty entrypoint, which a change of settings takes as null: each build finds it (BLD-16). */
export const changedEntrypoint = (given: string | undefined): string | null | undefined =>
  given === "" ? null : given;

/** Creates or changes variables, all or none; a new one is for production and previews. Returns whether there are any. */
export async function saveVariables(
  ctx: Context<"secrets">,
  projectId: string,
  variables: readonly { readonly keyName: string; readonly secretValue: string }[],
): Promise<boolean> {
  if (variables.length === 0) return false;
  await setSecrets({ ctx, input: { projectId, secrets: [...variables] } });
  return true;
}
