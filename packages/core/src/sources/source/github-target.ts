import { audit } from "../../audit/index.ts";
import type { Context } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import type { GitHubTarget, TargetRepository } from "../../ports/index.ts";
import { recordTarget } from "../repository/internal.ts";
import { refused } from "./read-refs.ts";

/** `detail` of a `conflict`: the owner of the GitHub account has to sign in there for a repository to be made. */
export const needsGitHubUser = "needs_github_user";
/** The same: who has signed in there isn't the account's owner. */
export const otherGitHubUser = "other_github_user";

type Account = Awaited<ReturnType<GitHubTarget["account"]>>;

type TargetRequest = {
  /** Of this instance, with what an earlier try has recorded. */
  readonly row: {
    readonly id: string;
    readonly organizationId: string;
    readonly name: string;
    readonly githubInstallationId: number | null;
    readonly githubRepositoryId: number | null;
  };
  readonly installationId: number;
  readonly name: string;
  readonly private: boolean;
  readonly userToken: string | null;
};

/**
 * The repository at GitHub that continues a repository of this instance: what an earlier try has made, an empty one that
 * somebody has made there, or a new one, which is recorded at once.
 *
 * @throws TowpathError `invalid_input` with `fields.gitHubName` or `fields.private`; `conflict` where GitHub refuses it, with
 * the details `needsGitHubUser` and `otherGitHubUser` where a person has to sign in there; errors of GitHub
 */
export async function targetAtGitHub(ctx: Context<"gitHubTarget">, asked: TargetRequest): Promise<TargetRepository> {
  const host = ctx.gitHubTarget;
  const account = await host.account(asked.installationId);
  const address = { installationId: asked.installationId, owner: account.login, name: asked.name };
  const { githubRepositoryId: id, githubInstallationId } = asked.row;
  const known =
    id === null || githubInstallationId !== asked.installationId
      ? null
      : await host.find({ installationId: asked.installationId, id });
  if (known !== null && nameOf(known).toLowerCase() === asked.name.toLowerCase())
    return withVisibility(account, asked, known);
  const there = await host.find(address);
  if (there !== null) {
    withVisibility(account, asked, there);
    // The App may write more repositories than who acts here may at GitHub, who would write them through it.
    if ((await host.heads(address)).size > 0) {
      const message = `${there.fullName} exists and has commits. Choose another name, or change each server's source to that repository.`;
      throw refused("gitHubName", message);
    }
    await record(ctx, asked, there, "found");
    return there;
  }
  const made = await make(host, account, asked);
  await record(ctx, asked, made, "made");
  // An installation for selected repositories gets what the App has made a moment later, or not at all.
  return (await found(host, asked.installationId, made.id)) ?? notVisible(account, made);
}

const nameOf = ({ fullName }: TargetRepository) => fullName.split("/").at(-1) ?? "";

/** Code is never pushed to a repository that more people see than was asked for. */
function withVisibility({ hostName }: Account, asked: TargetRequest, there: TargetRepository): TargetRepository {
  if (there.private === asked.private) return there;
  const is = there.private ? "private" : "public";
  throw refused("private", `${there.fullName} is ${is} on ${hostName}. Choose ${is}, or another name.`);
}

async function make(host: GitHubTarget, account: Account, asked: TargetRequest): Promise<TargetRepository> {
  const { installationId, name } = asked;
  // An organization's is made as the App: a token may be of an earlier try, in the person's own account.
  const userToken = account.isPerson ? asked.userToken : null;
  if (account.isPerson && userToken === null) throw byHand(account, asked);
  const answer = await host.make({ installationId, name, private: asked.private, userToken });
  const { login, hostName, settingsUrl } = account;
  switch (answer.kind) {
    case "made":
      return answer.repository;
    case "taken":
      throw refused(
        "gitHubName",
        `${login} has a repository ${name} on ${hostName} that Towpath can't read. Choose another name.`,
      );
    case "other-user":
      throw new TowpathError(
        "conflict",
        `You signed in to ${hostName} as ${answer.login}. Only ${login} can make a repository in that account. Sign in there as ${login}, or choose another account.`,
        { detail: otherGitHubUser },
      );
    case "refused":
      throw new TowpathError(
        "conflict",
        `${hostName} doesn't let the App make a repository in ${login}. Give it the permission Administration (read and write) at ${settingsUrl}, check the account's rules for new repositories, or make an empty repository ${name} there yourself. Then try again.`,
      );
  }
}

/** For who has no session here, such as the holder of an API key. */
function byHand({ login, hostName, hostUrl }: Account, { name, private: isPrivate }: TargetRequest): TowpathError {
  const query = new URLSearchParams({ owner: login, name, visibility: isPrivate ? "private" : "public" });
  return new TowpathError(
    "conflict",
    `${hostName} lets only ${login} make a repository in that account. Make an empty one at ${hostUrl}/new?${query}, give the App access to it, then try again; or continue in the dashboard.`,
    { detail: needsGitHubUser },
  );
}

async function record(
  ctx: Context,
  { row, installationId }: TargetRequest,
  there: TargetRepository,
  how: "made" | "found",
) {
  await ctx.db.transaction(async (tx) => {
    await recordTarget(tx, row.id, installationId, there);
    await audit(tx, ctx, {
      organizationId: row.organizationId,
      action: "repository.target",
      subject: row.name,
      detail: { to: there.fullName, how, private: there.private },
    });
  });
}

const pausesMs = [0, 400, 800, 1600];

async function found(host: GitHubTarget, installationId: number, id: number): Promise<TargetRepository | null> {
  for (const pause of pausesMs) {
    if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause));
    const there = await host.find({ installationId, id });
    if (there !== null) return there;
  }
  return null;
}

function notVisible({ hostName, settingsUrl }: Account, { fullName }: TargetRepository): never {
  throw new TowpathError(
    "conflict",
    `${fullName} was made on ${hostName}, but the App can't read it. Give it access at ${settingsUrl}, then try again with the same name.`,
  );
}
