import type { SourceSummary } from "@towpath/core/source";

/** A source as people know it: `owner/repository`, `example.com/group/repository`, or a name of this instance or package. */
export function sourceName(source: SourceSummary): string {
  if (source.kind === "git") return `${source.host}/${source.name}`;
  return source.kind === "github" ? source.fullName : source.name;
}

/** Whether there is a repository to push to. */
export const isRepository = (
  source: SourceSummary | null,
): source is Exclude<SourceSummary, { readonly kind: "package" }> => source !== null && source.kind !== "package";

type Cloned = {
  readonly cloneUrl: string;
  readonly directory: string;
  readonly hasPreviews: boolean;
  /** Git asks for an API key as the password. */
  readonly isHere?: boolean;
};

/** How the code is fetched to change it; null where it can't be. */
export function cloneOf(project: {
  readonly source: SourceSummary | null;
  /** Of a repository of GitHub, its page. */
  readonly repositoryUrl: string | null;
}): Cloned | null {
  const { source, repositoryUrl } = project;
  if (!isRepository(source)) return null;
  if (source.kind === "git") {
    return { cloneUrl: source.url, directory: source.name.split("/").at(-1) ?? "", hasPreviews: source.previews };
  }
  if (source.kind === "repository") {
    const { name: directory, previews: hasPreviews } = source;
    return source.url === null ? null : { cloneUrl: source.url, directory, hasPreviews, isHere: true };
  }
  const directory = source.fullName.split("/").at(-1) ?? "";
  return repositoryUrl === null ? null : { cloneUrl: `${repositoryUrl}.git`, directory, hasPreviews: true };
}
