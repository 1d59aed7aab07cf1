import { TowpathError } from "@towpath/core/errors";
import type { ProjectDetailView } from "@towpath/core/project";

type Sourced = Pick<ProjectDetailView, "name" | "source">;

/** What a server is built from, in a sentence. */
function sourceText(source: Sourced["source"]): string {
  if (source === null) return "no repository";
  if (source.kind === "git") return source.url;
  if (source.kind === "package") return `the package ${source.name}`;
  return `the repository ${source.kind === "repository" ? source.name : source.fullName}`;
}

/** The refusal to deploy to a server from something else than what it is built from. */
export function otherSource({ name, source }: Sourced, remedy = "Choose another name."): TowpathError {
  return new TowpathError("conflict", `${name} deploys from ${sourceText(source)}. ${remedy}`);
}
