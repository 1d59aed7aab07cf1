import type { z } from "zod";
import { authorize } from "../../authorize/index.ts";
import type { Context, SourceServices } from "../../context/index.ts";
import { notFound, TowpathError } from "../../errors/index.ts";
import type { BuildSource } from "../../projects/project/project.schema.ts";
import { chooseRelease, packageBranch, versionCommit } from "../package/internal.ts";
import { type FoundRepository, findAtGitHub, findAtUrl, findHere, unlessRefused } from "./find-repository.ts";
import type { changeSourceSchema } from "./git-source.schema.ts";
import { noSuchBranch, refused, refusedAt, refusedAtUrl } from "./read-refs.ts";
import { repositoryHere } from "./repository-here.ts";
import { noOtherSource } from "./source.ts";
import { requireGitHubSettings } from "./update-github-source.ts";

type Change = z.output<typeof changeSourceSchema>;
type Named<Kind extends keyof Change> = NonNullable<Change[Kind]>;
type Settings = Pick<Change, "branch" | "previews" | "credential">;

/** Where a server's code is to come from, as it was just read. */
export type NextSource = {
  /** For the audit log: the URL, or a name. */
  readonly to: string;
  /** What goes live, and is built first. */
  readonly branch: string;
  readonly commit: BuildSource;
} & Pick<FoundRepository, "columns" | "git">;

const kinds = ["gitUrl", "repository", "githubRepository", "package"] as const;
const choice =
  "a Git URL (gitUrl), a repository of this instance (repository), a repository of GitHub (githubRepository) or a package (package)";

/**
 * Reads what a change names, and changes nothing.
 *
 * @throws TowpathError `invalid_input` by field: none or several named, what doesn't go with it, what isn't there or can't
 * be read; `forbidden`, `conflict` for a suspended GitHub App, errors of the host or index
 */
export async function readNextSource(
  ctx: Context<SourceServices | "packages">,
  organization: { readonly id: string; readonly slug: string },
  change: Change,
): Promise<NextSource> {
  const { id: organizationId } = organization;
  const { gitUrl, repository, githubRepository, package: named } = change;
  const given = kinds.filter((kind) => change[kind] !== undefined);
  if (given.length !== 1) {
    const field = given[1] ?? "gitUrl";
    throw refused(field, given.length === 0 ? `Name ${choice}.` : `Name only one of them: ${choice}.`);
  }
  if (repository !== undefined) return readHere(ctx, organizationId, repository, change);
  if (gitUrl !== undefined) {
    const here = await repositoryHere(ctx, organization, { gitUrl, field: "gitUrl" });
    if (here !== null) return refusedAtUrl("gitUrl", () => readHere(ctx, organizationId, here, change));
    const found = await findAtUrl(ctx, organizationId, gitUrl, change);
    return { ...(await newest(found)), to: found.url };
  }
  if (githubRepository !== undefined) return readGitHub(ctx, organizationId, githubRepository, change);
  if (named !== undefined) return readPackage(ctx, named, change);
  throw new TowpathError("internal", "The source could not be read.");
}

async function readHere(
  ctx: Context<"instanceRepositories">,
  organizationId: string,
  name: string,
  change: Settings,
): Promise<NextSource> {
  if (change.credential) throw refused("credential", "A repository of this instance needs no credential.");
  return newest(await findHere(ctx, organizationId, name, change));
}

/** With the head of its branch. */
async function newest({ name: to, branch, sha, reader, field, columns, git }: FoundRepository): Promise<NextSource> {
  if (sha === null) throw notFound("branch");
  return { to, branch, commit: await refusedAt(field, () => reader.commit({ branch, sha })), columns, git };
}

/** Read as `deployProject` reads it, by whoever may deploy. */
async function readGitHub(
  ctx: Context<"repositories">,
  organizationId: string,
  named: Named<"githubRepository">,
  { branch, previews, credential }: Settings,
): Promise<NextSource> {
  requireGitHubSettings({ credential, previews });
  await authorize(ctx, "project.create", { organizationId });
  const found = await findAtGitHub(ctx, organizationId, { ...named, branch, field: "githubRepository" });
  if (found.sha !== null) return newest(found);
  if (branch) throw refused("branch", noSuchBranch(branch, null));
  throw refused("githubRepository", `${found.name} has no commits yet. Push one, then try again.`);
}

async function readPackage(
  ctx: Context<"packages">,
  { name, version, follows }: Named<"package">,
  { branch, previews, credential }: Settings,
): Promise<NextSource> {
  if (branch) throw refused("branch", "A package has versions, no branches.");
  if (previews) throw refused("previews", "A package has no previews.");
  if (credential) throw refused("credential", "A package is read from the index, without a credential.");
  const release = await unlessRefused("package", async () => chooseRelease(await ctx.packages.releases(name), version));
  return {
    to: name,
    branch: packageBranch,
    commit: versionCommit(name, release.version),
    git: null,
    columns: { ...noOtherSource, packageName: name, followsPackage: follows },
  };
}
