import { authorize, requireUser } from "../../authorize/index.ts";
import type { Call } from "../../context/index.ts";
import { insertApiKey } from "../../tenancy/api-key/internal.ts";
import { findRepositoryForGit } from "./find-repository-for-git.ts";
import { cloneUrl, projectsOf } from "./repository.store.ts";

/** How long somebody works with a command that they copied. */
const lastsMs = 8 * 3_600_000;

/** A key for git, with commands that work as they are. It is shown this once. */
type GitCredentialView = {
  readonly url: string;
  /** Any does. */
  readonly username: string;
  /** A personal API key. */
  readonly password: string;
  readonly expiresAt: string;
  /**
   * They pass the key in a header for this instance only, which git stores nowhere: a key in the URL would stay in the
   * clone's settings.
   */
  readonly commands: {
    /** How `git` is called for any other. */
    readonly git: string;
    readonly clone: string;
    /** In a directory with commits: pushes what is checked out to the default branch. */
    readonly push: string;
  };
};

/**
 * Makes a personal key that ends after some hours, for `git push` to a repository of this instance (SRC-3). It is limited
 * to the servers that are built from the repository, if there are any.
 *
 * @throws TowpathError `not_found`, `forbidden` for who may not push, and for API keys
 */
export async function makeGitCredential({
  ctx,
  input,
}: Call<{ readonly orgSlug: string; readonly name: string }>): Promise<GitCredentialView> {
  const { organization } = await authorize(ctx, "apiKey.create", { orgSlug: input.orgSlug });
  const userId = requireUser(ctx);
  const { id, name, defaultBranch } = await findRepositoryForGit({ ctx, input: { ...input, access: "write" } });
  const url = cloneUrl(ctx, { orgSlug: organization.slug, name });
  const expiresAt = new Date(ctx.clock.now().getTime() + lastsMs);
  const made = await ctx.db.transaction(async (tx) => {
    const projectIds = (await projectsOf(tx, [id])).map((each) => each.id);
    return insertApiKey(tx, ctx, organization, {
      kind: "personal",
      scope: "manage",
      name: `git push to ${name}`.slice(0, 64),
      userId,
      expiresAt,
      projectIds: projectIds.length === 0 ? null : projectIds,
    });
  });
  const username = "towpath";
  const header = `Authorization: Basic ${Buffer.from(`${username}:${made.key}`).toString("base64")}`;
  const git = `git -c http.${new URL(url).origin}/.extraHeader="${header}"`;
  return {
    url,
    username,
    password: made.key,
    expiresAt: expiresAt.toISOString(),
    commands: { git, clone: `${git} clone ${url}`, push: `${git} push ${url} HEAD:${shellWord(defaultBranch)}` },
  };
}

/** Names of branches can have characters that mean something to a shell. */
const shellWord = (text: string) => (/^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);
