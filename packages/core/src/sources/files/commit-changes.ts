import { gitSource, type project } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import { authorizeProject, type ProjectScope } from "../../authorize/index.ts";
import type { Context } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { parseInput } from "../../input/index.ts";
import type { FileChanges } from "../../ports/index.ts";
import { actingAuthor, findRepositoryForGit, receivePush } from "../repository/internal.ts";
import { hintBranch } from "../webhook/internal.ts";
import { type FileServices, type SourceRepository, sourceRepository } from "./edited-repository.ts";
import { type CommitChangesInput, type Committed, commitChangesSchema } from "./files.schema.ts";

type ProjectRow = typeof project.$inferSelect;

/**
 * Commits changed files to the repository of a server, in the name of who acts, and has the branch looked at at once
 * (CAP-5). Commits that came meanwhile stay, below this one; nothing is overwritten.
 *
 * @param call.input.userToken a GitHub token of who acts, with which the commit is pushed there
 * @throws TowpathError `conflict` where one of the files was changed meanwhile, for a branch that exists, and for what the
 * host refuses, with its words; `invalid_input` by field; `forbidden`; errors of the host
 */
export async function commitChanges(call: {
  ctx: Context<FileServices>;
  input: ProjectScope & CommitChangesInput & { readonly userToken: string | null };
}): Promise<Committed> {
  const { ctx } = call;
  const { project: of, organization } = await authorizeProject(ctx, "build.start", call.input);
  const input = parseInput(commitChangesSchema, call.input);
  const at = await sourceRepository(ctx, of);
  const { newBranch = null, message, pullRequest } = input;
  if (pullRequest && (newBranch === null || at.kind !== "github")) throw noPullRequest();
  const writer = await writerOf(ctx, { at, orgSlug: organization.slug, userToken: call.input.userToken });
  const branch = newBranch ?? input.branch;
  const parent = newBranch === null ? await newestParent(at, input) : { branch: input.branch, sha: input.sha };
  const changes: FileChanges = { parent, branch, changes: input.changes, author: writer.author, message };
  const commit = await ctx.gitFiles.change(writer.to, changes);
  await recordCommit(ctx, { of, at, branch, sha: commit.sha, paths: input.changes.map(({ path }) => path) });
  const [title = message, ...body] = message.split("\n");
  const { address } = at;
  const { userToken } = writer;
  const open = async () =>
    pullRequest && address !== null && userToken !== null
      ? await ctx.gitHubFiles.openPullRequest(address, {
          head: branch,
          base: input.branch,
          title,
          body: body.join("\n").trim(),
          userToken,
        })
      : null;
  const pull = await open().then(
    (url) => ({ pullRequestUrl: url, pullRequestProblem: null }),
    (error: unknown) => {
      // A bug belongs in the log.
      if (!(error instanceof TowpathError)) throw error;
      // The commit is there.
      return { pullRequestUrl: null, pullRequestProblem: error.message };
    },
  );
  return { commit: { sha: commit.sha, message: commit.message, author: commit.author ?? null }, branch, ...pull };
}

const noPullRequest = () =>
  new TowpathError("invalid_input", "A pull request needs a new branch in a repository of GitHub.", {
    fields: { pullRequest: "A pull request needs a new branch in a repository of GitHub" },
  });

type WriterOf = {
  readonly at: SourceRepository;
  readonly orgSlug: string;
  readonly userToken: string | null;
};

/** With whose rights it is pushed, and in whose name. */
async function writerOf(ctx: Context<FileServices>, { at, orgSlug, userToken }: WriterOf) {
  if (at.address === null) {
    // Its own rule, with a text of its own.
    if (at.kind === "repository")
      await findRepositoryForGit({ ctx, input: { orgSlug, name: at.name, access: "write" } });
    return { to: await at.files(), author: await actingAuthor(ctx), userToken: null };
  }
  if (userToken === null) {
    throw new TowpathError(
      "conflict",
      "Commits to GitHub are made with your own account there, which isn't known here. Use git, or GitHub's editor.",
    );
  }
  const { remote, author } = await ctx.gitHubFiles.writing(at.address, userToken);
  return { to: { key: at.name, remote }, author, userToken };
}

/** The branch's head now, if what came meanwhile touches none of the changed files. */
async function newestParent(
  { reader, name }: SourceRepository,
  { branch, sha, changes }: Pick<CommitChangesInput, "branch" | "sha" | "changes">,
) {
  const head = (await reader.refs()).branches.get(branch);
  if (head === undefined) {
    const message = `The branch ${branch} of ${name} was deleted meanwhile. Commit to a new branch to keep your changes.`;
    throw new TowpathError("conflict", message);
  }
  if (head === sha) return { branch, sha };
  const changed = await reader.changedPaths(sha, { branch, sha: head });
  const both = changes.filter(({ path }) => changed === null || changed.includes(path)).map(({ path }) => path);
  if (changed !== null && both.length === 0) return { branch, sha: head };
  const message = `${both.join(", ")} changed in ${branch} meanwhile, in commits up to ${head.slice(0, 7)}. Nothing was overwritten: open the newest version and make your change there, or commit to a new branch.`;
  throw new TowpathError("conflict", message, { detail: head });
}

type Recorded = {
  readonly of: ProjectRow;
  readonly at: SourceRepository;
  readonly branch: string;
  readonly sha: string;
  readonly paths: readonly string[];
};

/** In the audit log: a commit can change fifty. */
const maxNamed = 10;

/** A host may take a while to say so itself, or never does. */
async function recordCommit(ctx: Context<FileServices>, { of, at, branch, sha, paths }: Recorded): Promise<void> {
  const { repositoryId } = at;
  if (repositoryId !== null) return receivePush({ ctx, input: { repositoryId, refs: [`refs/heads/${branch}`] } });
  await ctx.db.transaction(async (tx) => {
    await audit(tx, ctx, {
      organizationId: of.organizationId,
      projectId: of.id,
      action: "source.commit",
      subject: of.name,
      detail: { branch, sha, files: paths.slice(0, maxNamed), count: paths.length },
    });
    if (at.kind === "github") await hintBranch(tx, ctx, { project: of, branch, mayBeNew: true });
    if (at.kind !== "git") return;
    const now = ctx.clock.now();
    await tx.update(gitSource).set({ nextCheckAt: now, changedAt: now }).where(eq(gitSource.projectId, of.id));
    await ctx.queue.enqueue("source.check", { projectId: of.id }, { key: of.id, transaction: tx });
  });
}
