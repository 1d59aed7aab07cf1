import type { SourceSummary } from "@towpath/core/sources/source";

/**
 * A readable source: `owner/repository`, `example.com/group/repository`, or the name of a repository here or a package.
 */
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
  /** For a repository of this instance, where git asks for an API key as the password; null elsewhere. */
  readonly here: { readonly orgSlug: string; readonly repository: string } | null;
};

/** How the code is fetched to change it; null where it can't be. */
export function cloneOf(project: {
  readonly orgSlug: string;
  readonly source: SourceSummary | null;
  /** Of a repository of GitHub, its page. */
  readonly repositoryUrl: string | null;
}): Cloned | null {
  const { orgSlug, source, repositoryUrl } = project;
  if (!isRepository(source)) return null;
  if (source.kind === "git") {
    const directory = source.name.split("/").at(-1) ?? "";
    return { cloneUrl: source.url, directory, hasPreviews: source.previews, here: null };
  }
  if (source.kind === "repository") {
    const { name: directory, previews: hasPreviews } = source;
    const here = { orgSlug, repository: directory };
    return { cloneUrl: source.url, directory, hasPreviews, here };
  }
  const directory = source.fullName.split("/").at(-1) ?? "";
  return repositoryUrl === null ? null : { cloneUrl: `${repositoryUrl}.git`, directory, hasPreviews: true, here: null };
}
