import type { z } from "zod";
import { authorize } from "../../authorize/index.ts";
import type { Context, GitServices } from "../../context/index.ts";
import { parseInput } from "../../input/index.ts";
import type { GitCheckout, GitHeads } from "../../ports/index.ts";
import { seeAtUrl, seeHere } from "./find-repository.ts";
import { lookAtSourceSchema } from "./git-source.schema.ts";
import { givenCredential } from "./git-source.store.ts";
import { hostOfUrl, nameOfUrl } from "./git-source.view.ts";
import { chooseBranch, refused, refusedAt } from "./read-refs.ts";
import { repositoryHere } from "./repository-here.ts";
import { parseSourceText, type SourceText } from "./source-text.schema.ts";

/** A repository as somebody who pasted its URL sees it. Close `checkout`. */
export type LookedAtSource = {
  readonly url: string;
  readonly host: string;
  /** The path of the URL, such as `owner/repository`. */
  readonly name: string;
  /** The branch that would go live. */
  readonly branch: string;
  /** What the repository's HEAD names. */
  readonly defaultBranch: string | null;
  /** Sorted, the first hundreds. */
  readonly branches: readonly string[];
  /** Of a link to a folder, relative to the root. */
  readonly directory: string | null;
  readonly checkout: GitCheckout;
};

const maxBranches = 500;

/**
 * What is behind a Git URL or a link to a folder at a host, for somebody who may deploy it (SRC-2).
 *
 * @throws TowpathError `invalid_input` by field (`text`, `branch`, `credential`) for what isn't a Git URL, no repository, a
 * branch that it doesn't have, an address that isn't allowed; `upstream_unavailable`
 */
export async function lookAtSource(call: {
  ctx: Context<GitServices>;
  input: z.input<typeof lookAtSourceSchema> & { readonly orgSlug: string };
}): Promise<LookedAtSource> {
  const { ctx } = call;
  const { organization } = await authorize(ctx, "project.create", { orgSlug: call.input.orgSlug });
  const { text, branch: chosen, credential: input } = parseInput(lookAtSourceSchema, call.input);
  const pasted = requireGitText(text);
  const credential = givenCredential(ctx, organization.id, input)?.credential ?? null;
  const field = "text";
  const here = await repositoryHere(ctx, organization, { gitUrl: pasted.url, field });
  const seen =
    here === null
      ? await seeAtUrl(ctx, { url: pasted.url, credential }, field)
      : { url: pasted.url, ...(await seeHere(ctx, organization.id, here, field)) };
  const { url, heads, reader } = seen;
  const { branch: linked, directory } = splitLink(pasted, heads);
  const at = chooseBranch(heads, { branch: chosen ?? linked, urlField: field });
  const checkout = await refusedAt(field, () => reader.checkout(at));
  return {
    url,
    host: hostOfUrl(url),
    name: nameOfUrl(url),
    branch: at.branch,
    defaultBranch: heads.defaultBranch,
    branches: [...heads.branches.keys()].toSorted().slice(0, maxBranches),
    directory,
    checkout,
  };
}

function requireGitText(text: string): Extract<SourceText, { kind: "git" }> {
  const parsed = parseSourceText(text);
  if ("problem" in parsed) throw refused("text", parsed.problem);
  if (parsed.source.kind === "git") return parsed.source;
  throw refused("text", "This names a package or a registry entry, not a Git URL.");
}

/** A link to a folder doesn't say where the branch's name ends: `tree/fix/server` may be `server` of the branch `fix`. */
function splitLink(
  { branch, directory }: Extract<SourceText, { kind: "git" }>,
  refs: GitHeads,
): { readonly branch: string | null; readonly directory: string | null } {
  if (branch === null || refs.branches.has(branch)) return { branch, directory };
  const parts = [branch, directory]
    .filter((part) => part !== null)
    .join("/")
    .split("/");
  for (let length = parts.length; length > 0; length--) {
    const name = parts.slice(0, length).join("/");
    if (refs.branches.has(name)) return { branch: name, directory: parts.slice(length).join("/") || null };
  }
  return { branch, directory };
}
