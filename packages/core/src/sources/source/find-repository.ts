import type { project } from "@towpath/db/schema";
import type { Context } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { addressOf, type GitHeads, type GitReader, type GitRemote } from "../../ports/index.ts";
import { requireUsableInstallation } from "../installation/internal.ts";
import { requireRepository } from "../repository/internal.ts";
import { type GivenCredential, givenCredential } from "./git-source.store.ts";
import { nameOfUrl } from "./git-source.view.ts";
import { chooseBranch, movedUrl, refusedAt } from "./read-refs.ts";
import { noOtherSource } from "./source.ts";

/** What `git_source` is to keep of a Git URL or a repository of this instance. */
export type FoundGitSource = {
  readonly place: { readonly url: string } | { readonly repositoryId: string };
  /** The branch, if the owner named one. */
  readonly named: string | null;
  readonly previews: boolean;
  readonly given: GivenCredential | null;
  readonly heads: GitHeads;
};

/** Columns of a project that name its source. */
type SourceColumns = Pick<typeof project.$inferSelect, keyof typeof noOtherSource>;

/** A repository that somebody named, wherever it is, as it was just seen. */
export type FoundRepository = {
  /** For people. */
  readonly name: string;
  /** Field of the input beside which a refusal is shown; null: beside none. */
  readonly field: string | null;
  readonly reader: GitReader;
  /** What goes live, and its head; null: it has no such branch. */
  readonly branch: string;
  readonly sha: string | null;
  readonly columns: SourceColumns;
  /** Null: it is named by the columns alone. */
  readonly git: FoundGitSource | null;
};

type Settings = {
  readonly branch?: string | null | undefined;
  readonly previews?: boolean | undefined;
  readonly credential?: Parameters<typeof givenCredential>[2];
};

/** What is behind a URL, and where that is now. `field`: of the input; names it. */
export async function seeAtUrl(ctx: Context<"gitRemotes">, remote: GitRemote, field: string) {
  const remotes = ctx.gitRemotes;
  const heads = await refusedAt(field, () => remotes.open(remote).refs());
  const url = movedUrl(remote, heads.url);
  return { url, heads, reader: remotes.open({ ...remote, url }) };
}

/** What is in a repository of this instance. `field`: of the input; names it. */
export async function seeHere(
  ctx: Context<"instanceRepositories">,
  organizationId: string,
  name: string,
  field: string,
) {
  const { id } = await refusedAt(field, () => requireRepository(ctx.db, organizationId, name));
  const reader = ctx.instanceRepositories.open(id);
  return { id, heads: await refusedAt(field, () => reader.refs()), reader };
}

/** @throws TowpathError `invalid_input` by field (`gitUrl`, `branch`, `credential`), `upstream_unavailable` */
export async function findAtUrl(
  ctx: Context<"gitRemotes" | "secrets">,
  organizationId: string,
  gitUrl: string,
  { branch, previews = false, credential }: Settings,
): Promise<FoundRepository & { readonly url: string }> {
  const field = "gitUrl";
  const given = givenCredential(ctx, organizationId, credential);
  const { url, heads, reader } = await seeAtUrl(ctx, { url: gitUrl, credential: given?.credential ?? null }, field);
  const at = chooseBranch(heads, { branch, urlField: field });
  return {
    name: nameOfUrl(url),
    url,
    field,
    reader,
    ...at,
    columns: noOtherSource,
    git: { place: { url }, named: branch ?? null, previews, given, heads },
  };
}

/** One of this instance. @throws TowpathError `invalid_input` by field (`repository`, `branch`) */
export async function findHere(
  ctx: Context<"instanceRepositories">,
  organizationId: string,
  name: string,
  { branch, previews = true }: Settings,
): Promise<FoundRepository> {
  const field = "repository";
  const { id, heads, reader } = await seeHere(ctx, organizationId, name, field);
  const at = chooseBranch(heads, { branch, urlField: field });
  return {
    name,
    field,
    reader,
    ...at,
    columns: noOtherSource,
    git: { place: { repositoryId: id }, named: branch ?? null, previews, given: null, heads },
  };
}

type AtGitHub = {
  readonly installationId: number;
  readonly fullName: string;
  readonly branch?: string | null | undefined;
  readonly commitSha?: string | undefined;
  readonly field: string | null;
};

/**
 * One of a connected account. `field`: beside which it is shown that it isn't there; null: `not_found` is thrown.
 *
 * @throws TowpathError `conflict` for a suspended App, errors of the host
 */
export async function findAtGitHub(
  ctx: Context<"repositories">,
  organizationId: string,
  { installationId, fullName, branch, commitSha, field }: AtGitHub,
): Promise<FoundRepository> {
  await requireUsableInstallation(ctx.db, organizationId, installationId);
  const host = ctx.repositories;
  const address = addressOf(installationId, fullName);
  const ask = () => host.repository(address);
  const found = field === null ? await ask() : await unlessRefused(field, ask);
  const reader = host.open({ ...address, repositoryId: found.id });
  const name = branch ?? found.defaultBranch;
  const sha = commitSha ?? (await reader.refs(name)).branches.get(name) ?? null;
  const columns = {
    ...noOtherSource,
    installationId,
    repositoryId: found.id,
    repositoryFullName: found.fullName,
    repositoryPrivate: found.private,
    githubBranch: branch ?? null,
  };
  return { name: found.fullName, field: null, reader, branch: name, sha, columns, git: null };
}

/** What isn't there is shown beside the field that names it. */
export async function unlessRefused<Result>(field: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const isNamed = error instanceof TowpathError && (error.code === "not_found" || error.code === "invalid_input");
    if (!isNamed) throw error;
    throw new TowpathError("invalid_input", error.message, { fields: { [field]: error.message }, cause: error });
  }
}
