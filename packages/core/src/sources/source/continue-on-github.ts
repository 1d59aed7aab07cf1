import type { Transaction } from "@towpath/db";
import { project } from "@towpath/db/schema";
import { asc, inArray } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import { authorize } from "../../authorize/index.ts";
import type { Context } from "../../context/index.ts";
import { notFound, TowpathError } from "../../errors/index.ts";
import { parseInput } from "../../input/index.ts";
import type { TargetRepository } from "../../ports/index.ts";
import { requireUsableInstallation } from "../installation/internal.ts";
import {
  endAsContinued,
  lockRepository,
  projectsOf,
  type RepositoryView,
  repositoryView,
  requireRepository,
  whileMoving,
} from "../repository/internal.ts";
import { continueSource } from "./continue-source.ts";
import { type ContinueOnGitHubInput, continueOnGitHubSchema } from "./github-target.schema.ts";
import { targetAtGitHub } from "./github-target.ts";
import { refused } from "./read-refs.ts";

type Organization = { readonly id: string; readonly slug: string };

/**
 * Moves a repository of this instance to a connected GitHub account, with all branches and tags, and has every server that is
 * built from it built from there (SRC-3). Names, addresses, variables, logs, previews and deployments stay, and nothing is
 * built again. The repository here is read-only from then on, and names its new place to who pushes.
 *
 * Repeating it resumes where it stopped: what was made at GitHub is used again, what was pushed isn't pushed twice, and
 * servers change together, last. Until then the repository here is what they are built from.
 *
 * @param call.input.userToken a GitHub token of who acts, for a repository in their own account
 * @throws TowpathError `invalid_input` by field (`repository` without commits, `gitHubName` that is taken, `private`,
 * `installationId`); `conflict` where GitHub refuses something, and while somebody else moves it; `upstream_unavailable`
 */
export async function continueOnGitHub(call: {
  ctx: Context<"gitHubTarget" | "instanceRepositories" | "secrets">;
  input: ContinueOnGitHubInput & { readonly orgSlug: string; readonly userToken: string | null };
}): Promise<{ readonly repository: RepositoryView; readonly servers: readonly string[] }> {
  const { ctx } = call;
  const { organization } = await authorize(ctx, "repository.continue", { orgSlug: call.input.orgSlug });
  const input = parseInput(continueOnGitHubSchema, call.input);
  const { id, continuedAt } = await requireRepository(ctx.db, organization.id, input.repository);
  if (continuedAt !== null) throw alreadyThere(await repositoryView(ctx, ctx.db, organization, id));
  await requireUsableInstallation(ctx.db, organization.id, input.installationId);
  return whileMoving(ctx, id, async (row) => {
    const { defaultBranch } = await ctx.instanceRepositories.open(id).refs();
    if (defaultBranch === null) throw empty();
    const { installationId, private: isPrivate } = input;
    const to = await targetAtGitHub(ctx, {
      row,
      installationId,
      private: isPrivate,
      name: input.gitHubName ?? row.name,
      userToken: call.input.userToken,
    });
    const servers = await pushAndSwitch(ctx, organization, { id, installationId, to, defaultBranch });
    return { repository: await repositoryView(ctx, ctx.db, organization, id), servers };
  });
}

function alreadyThere({ name, continued }: RepositoryView): TowpathError {
  return new TowpathError("conflict", `The repository ${name} continues on GitHub already, as ${continued?.fullName}.`);
}

const empty = () =>
  refused(
    "repository",
    "This repository has no commits, so there is nothing to move. Push one here, or deploy a repository of GitHub instead.",
  );

type Move = {
  readonly id: string;
  readonly installationId: number;
  readonly to: TargetRepository;
  readonly defaultBranch: string;
};

/** A push that began before the move may still come in, and a server may be made. */
const maxRounds = 4;

async function pushAndSwitch(
  ctx: Context<"gitHubTarget" | "instanceRepositories" | "secrets">,
  organization: Organization,
  move: Move,
): Promise<readonly string[]> {
  const { id, installationId, to } = move;
  const store = ctx.instanceRepositories;
  const host = ctx.gitHubTarget;
  for (let round = 0; round < maxRounds; round++) {
    const refs = await store.listRefs(id);
    await store.push(id, await host.remote(addressOf(installationId, to), to));
    const namesBranch = await namesOtherBranch(ctx, move);
    const isTheSame = async () => sameRefs(refs, await store.listRefs(id));
    const servers = await ctx.db.transaction((tx) =>
      switchServers(tx, ctx, organization, { ...move, namesBranch, isTheSame }),
    );
    if (servers) return servers;
  }
  throw new TowpathError("conflict", "The repository kept changing while it was moved. Try again.");
}

const addressOf = (installationId: number, { fullName }: TargetRepository) => {
  const [owner = "", name = ""] = fullName.split("/");
  return { installationId, owner, name };
};

const sameRefs = (one: ReadonlyMap<string, string>, two: ReadonlyMap<string, string>) =>
  one.size === two.size && [...one].every(([ref, sha]) => two.get(ref) === sha);

/** Has GitHub name the same default branch. False: it does; true: the App may not change it, so servers name theirs. */
async function namesOtherBranch(
  ctx: Context<"gitHubTarget">,
  { installationId, to, defaultBranch }: Move,
): Promise<boolean> {
  const host = ctx.gitHubTarget;
  const now = await host.find({ installationId, id: to.id });
  if (now?.defaultBranch === defaultBranch) return false;
  try {
    await host.setDefaultBranch(addressOf(installationId, now ?? to), defaultBranch);
    return false;
  } catch (error) {
    if (error instanceof TowpathError && (error.code === "conflict" || error.code === "not_found")) return true;
    throw error;
  }
}

/** Names of the servers. Null: something was pushed, or a server was made, since the push. */
async function switchServers(
  tx: Transaction,
  ctx: Context<"secrets">,
  organization: Organization,
  of: Move & { readonly namesBranch: boolean; readonly isTheSame: () => Promise<boolean> },
): Promise<readonly string[] | null> {
  const { id, installationId, to, namesBranch } = of;
  // Lock order everywhere: projects first.
  const before = (await projectsOf(tx, [id])).map((each) => each.id);
  if (before.length > 0)
    await tx.select().from(project).where(inArray(project.id, before)).orderBy(asc(project.id)).for("no key update");
  const row = await lockRepository(tx, id);
  if (row === null) throw notFound("repository");
  // Somebody else has taken over from a move that took too long.
  if (row.continuedAt !== null) throw alreadyThere(await repositoryView(ctx, tx, organization, id));
  const servers = await projectsOf(tx, [id]);
  const areLocked = servers.every((each) => before.includes(each.id));
  if (!areLocked || !(await of.isTheSame())) return null;
  for (const { id: projectId } of servers)
    await continueSource(tx, ctx, projectId, { installationId, repository: to, namesBranch });
  await endAsContinued(tx, ctx, id);
  const names = servers.map(({ name }) => name);
  await audit(tx, ctx, {
    organizationId: organization.id,
    action: "repository.continue",
    subject: row.name,
    detail: { to: to.fullName, private: to.private, servers: names },
  });
  return names;
}
