import type { project } from "@towpath/db/schema";
import type { z } from "zod";
import { authorize } from "../authorize/index.ts";
import type { Context } from "../context/index.ts";
import { TowpathError } from "../errors/index.ts";
import { requireUsableInstallation } from "../installation/internal.ts";
import { chooseRelease, packageBranch, versionCommit } from "../package/internal.ts";
import {
  addressOf,
  type GitHeads,
  requireInstanceRepositories,
  requirePackageIndex,
  requireRepositoryHost,
} from "../ports/index.ts";
import type { BuildSource } from "../project/project.schema.ts";
import { requireRepository } from "../repository/internal.ts";
import type { changeSourceSchema } from "./git-source.schema.ts";
import { type GivenCredential, givenCredential } from "./git-source.store.ts";
import { readerOf } from "./open-source.ts";
import { chooseBranch, movedUrl, noSuchBranch, readRefs, refused, refusedAt, refusedAtUrl } from "./read-refs.ts";
import { repositoryHere } from "./repository-here.ts";
import { noOtherSource } from "./source.ts";
import { requireGitHubSettings } from "./update-github-source.ts";

type Change = z.output<typeof changeSourceSchema>;
type Named<Kind extends keyof Change> = NonNullable<Change[Kind]>;
type Settings = Pick<Change, "branch" | "previews" | "credential">;

/** What `git_source` is to keep of a Git URL or a repository of this instance. */
export type NextGitSource = {
  readonly place: { readonly url: string } | { readonly repositoryId: string };
  /** The branch, if the owner named one. */
  readonly named: string | null;
  readonly previews: boolean;
  readonly given: GivenCredential | null;
  readonly heads: GitHeads;
};

/** Where a server's code is to come from, as it was just read. */
export type NextSource = {
  /** For the audit log: the URL, or a name. */
  readonly to: string;
  /** What goes live, and is built first. */
  readonly branch: string;
  readonly commit: BuildSource;
  /** Columns of the project that name it. */
  readonly columns: Pick<typeof project.$inferSelect, keyof typeof noOtherSource>;
  /** Null: it is named by the columns alone. */
  readonly git: NextGitSource | null;
};

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
  ctx: Context,
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
  if (gitUrl !== undefined) {
    const here = await repositoryHere(ctx, organization, { gitUrl, field: "gitUrl" });
    return here === null
      ? readGitUrl(ctx, organizationId, gitUrl, change)
      : refusedAtUrl("gitUrl", () => readRepository(ctx, organizationId, here, change));
  }
  if (repository !== undefined) return readRepository(ctx, organizationId, repository, change);
  if (githubRepository !== undefined) return readGitHub(ctx, organizationId, githubRepository, change);
  if (named !== undefined) return readPackage(ctx, named, change);
  throw new TowpathError("internal", "The source could not be read.");
}

async function readGitUrl(
  ctx: Context,
  organizationId: string,
  gitUrl: string,
  { branch, previews = false, credential }: Settings,
): Promise<NextSource> {
  const given = givenCredential(ctx, organizationId, credential);
  const asked = { url: gitUrl, credential: given?.credential ?? null };
  const heads = await readRefs(ctx, asked, "gitUrl");
  const at = chooseBranch(heads, { branch, urlField: "gitUrl" });
  const url = movedUrl(asked, heads.url);
  const commit = await refusedAt("gitUrl", () => readerOf(ctx, { ...asked, url }).commit(at));
  return {
    ...{ to: url, branch: at.branch, commit, columns: noOtherSource },
    git: { place: { url }, named: branch ?? null, previews, given, heads },
  };
}

async function readRepository(
  ctx: Context,
  organizationId: string,
  name: string,
  { branch, previews = true, credential }: Settings,
): Promise<NextSource> {
  if (credential) throw refused("credential", "A repository of this instance needs no credential.");
  const { id } = await refusedAt("repository", () => requireRepository(ctx.db, organizationId, name));
  const reader = requireInstanceRepositories(ctx).open(id);
  const heads = await reader.refs();
  const at = chooseBranch(heads, { branch, urlField: "repository" });
  const commit = await reader.commit(at);
  return {
    ...{ to: name, branch: at.branch, commit, columns: noOtherSource },
    git: { place: { repositoryId: id }, named: branch ?? null, previews, given: null, heads },
  };
}

/** Read as `deployProject` reads it, by whoever may deploy. */
async function readGitHub(
  ctx: Context,
  organizationId: string,
  { installationId, fullName }: Named<"githubRepository">,
  { branch, previews, credential }: Settings,
): Promise<NextSource> {
  requireGitHubSettings({ credential, previews });
  await authorize(ctx, "project.create", { organizationId });
  await requireUsableInstallation(ctx.db, organizationId, installationId);
  const host = requireRepositoryHost(ctx);
  const address = addressOf(installationId, fullName);
  const found = await unlessRefused("githubRepository", () => host.repository(address));
  const name = branch ?? found.defaultBranch;
  const commit = await host.head(address, name);
  if (commit === null) {
    if (branch) throw refused("branch", noSuchBranch(branch, null));
    throw refused("githubRepository", `${found.fullName} has no commits yet. Push one, then try again.`);
  }
  const columns = {
    ...{ ...noOtherSource, installationId, repositoryId: found.id, repositoryFullName: found.fullName },
    ...{ repositoryPrivate: found.private, githubBranch: branch ?? null },
  };
  return { to: found.fullName, branch: name, commit, columns, git: null };
}

async function readPackage(
  ctx: Context,
  { name, version, follows }: Named<"package">,
  { branch, previews, credential }: Settings,
): Promise<NextSource> {
  if (branch) throw refused("branch", "A package has versions, no branches.");
  if (previews) throw refused("previews", "A package has no previews.");
  if (credential) throw refused("credential", "A package is read from the index, without a credential.");
  const release = await unlessRefused("package", async () =>
    chooseRelease(await requirePackageIndex(ctx).releases(name), version),
  );
  return {
    ...{ to: name, branch: packageBranch, commit: versionCommit(name, release.version), git: null },
    columns: { ...noOtherSource, packageName: name, followsPackage: follows },
  };
}

/** What isn't there is shown beside the field that names it. */
async function unlessRefused<Result>(field: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const isNamed = error instanceof TowpathError && (error.code === "not_found" || error.code === "invalid_input");
    if (!isNamed) throw error;
    throw new TowpathError("invalid_input", error.message, { fields: { [field]: error.message }, cause: error });
  }
}
