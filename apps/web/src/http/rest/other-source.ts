import { TowpathError } from "@towpath/core/errors";
import type { ProjectDetailView } from "@towpath/core/project";

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
