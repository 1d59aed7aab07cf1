import { TowpathError } from "../../errors/index.ts";
import { type GitRefs, mayNeedSignIn, unknownHost } from "../../ports/index.ts";
import { hostOfUrl } from "./git-source.view.ts";

/** Codes of what the person who gave a URL can fix, and the field that does. */
const fieldOf = (error: TowpathError, urlField: string | null): string | null => {
  // It names its field itself.
  if (urlField === null || Object.keys(error.fields).length > 0) return null;
  if (error.code === "conflict") return "credential";
  if (error.detail === unknownHost) return urlField;
  return error.code === "not_found" || error.code === "invalid_input" ? urlField : null;
};

const signInHint = "A private repository needs a token or a deploy key.";

/**
 * Runs what reads a repository that somebody has just named, and shows its refusal beside the field that can cure it.
 * `urlField`: the one that names the repository; null: refusals are thrown as they are.
 *
 * @throws TowpathError `invalid_input`, `upstream_unavailable`
 */
export async function refusedAt<Result>(urlField: string | null, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const field = error instanceof TowpathError ? fieldOf(error, urlField) : null;
    if (!(error instanceof TowpathError) || field === null) throw error;
    const { message, detail } = error;
    const fields = { [field]: message, ...(detail === mayNeedSignIn && { credential: signInHint }) };
    throw new TowpathError("invalid_input", message, { fields, detail, cause: error });
  }
}

/** Runs what calls its field `repository` for an input that has the repository's clone URL in `field`, where refusals belong. */
export async function refusedAtUrl<Result>(field: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TowpathError) || error.fields.repository === undefined) throw error;
    const { code, message, detail } = error;
    const { repository, ...others } = error.fields;
    throw new TowpathError(code, message, { fields: { [field]: repository, ...others }, detail, cause: error });
  }
}

/**
 * The branch of a repository that goes live, with its head: the named one, else what the repository's HEAD names.
 *
 * @throws TowpathError `invalid_input` with `fields.branch` for one that doesn't exist, and by `urlField` for an empty
 * repository
 */
export function chooseBranch(
  refs: GitRefs,
  { branch: named, urlField }: { readonly branch: string | null | undefined; readonly urlField: string },
): { readonly branch: string; readonly sha: string } {
  const branch = named ?? refs.defaultBranch;
  const sha = branch === null ? undefined : refs.branches.get(branch);
  if (branch !== null && sha !== undefined) return { branch, sha };
  if (refs.branches.size === 0) {
    const place = refs.url === null ? "" : ` at ${hostOfUrl(refs.url)}`;
    throw refused(urlField, `The repository${place} has no commits yet. Push one, then try again.`);
  }
  if (named) throw refused("branch", noSuchBranch(named, refs.branches));
  throw refused("branch", "The repository names no default branch. Name the branch to deploy.");
}

/** A host that redirects names the repository's new place; a credential, if there is one, is for its own origin only. */
export function movedUrl(
  { url, credential }: { readonly url: string; readonly credential: unknown },
  to: string | null,
): string {
  if (to === null) return url;
  if (credential === null) return to;
  const [before, after] = [new URL(url), new URL(to)];
  return before.protocol === after.protocol && before.host === after.host ? to : url;
}

const shownBranches = 5;

/** `branches`: as far as they are known, by name. */
export function noSuchBranch(named: string, branches: ReadonlyMap<string, unknown> | null): string {
  const names = [...(branches?.keys() ?? [])];
  if (names.length === 0) return `The repository has no branch ${named}.`;
  const some = names.slice(0, shownBranches).join(", ");
  const more = names.length > shownBranches ? `, and ${names.length - shownBranches} more` : "";
  return `The repository has no branch ${named}. It has ${some}${more}.`;
}

export const refused = (field: string, message: string) =>
  new TowpathError("invalid_input", message, { fields: { [field]: message } });
