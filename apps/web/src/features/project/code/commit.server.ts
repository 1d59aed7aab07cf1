import type { SignedIn } from "@towpath/auth";
import type { FullContext, ProjectAccess } from "@towpath/core/context";
import { notFound, TowpathError } from "@towpath/core/errors";
import { commitChanges } from "@towpath/core/sources/files";
import type { CommitChangesInput, Committed } from "@towpath/core/sources/files/schema";
import { atHost } from "@towpath/core/sources/github-connection/numbers";
import { isGitHubError } from "@towpath/github";
import { gitHub } from "~/compose.server.ts";
import {
  beginRoundTrip,
  callbackUrl,
  commitTokenName,
  deleteUserToken,
  readUserToken,
} from "~/features/organization/github/round-trip.server.ts";

export type CommitResult =
  /** The person must first let Towpath commit with their account at GitHub. */
  { readonly kind: "authorize"; readonly url: string } | { readonly kind: "committed"; readonly committed: Committed };

type CommitCall = Pick<ProjectAccess, "project" | "organization"> & {
  readonly signedIn: SignedIn;
  readonly ctx: FullContext;
  readonly input: CommitChangesInput;
};

/**
 * Commits changed files. At GitHub that needs a token of the person's own account there, so the browser may have to visit
 * GitHub first and then return to the page; the token is stored on the server for the commits of some minutes.
 */
export async function commitFromPage({
  signedIn,
  ctx,
  project,
  organization,
  input,
}: CommitCall): Promise<CommitResult> {
  const commit = async (userToken: string | null): Promise<CommitResult> => ({
    kind: "committed",
    committed: await commitChanges({ ctx, input: { ...input, projectId: project.id, userToken } }),
  });
  const { installationId, repositoryFullName } = project;
  if (installationId === null || repositoryFullName === null) return commit(null);
  const { connection } = atHost(installationId);
  const tokenName = commitTokenName({ connection, projectId: project.id });
  const userToken = await readUserToken(signedIn.sessionId, tokenName);
  if (userToken !== null) {
    try {
      return await commit(userToken);
    } catch (error) {
      if (!(error instanceof TowpathError && isGitHubError(error.cause, "unauthorized"))) throw error;
      // Revoked at GitHub in the meantime: authorize again.
      await deleteUserToken(signedIn.sessionId, tokenName);
    }
  }
  const found = await gitHub().find(connection);
  if (found === null) throw notFound("GitHub connection");
  const state = await beginRoundTrip(signedIn.sessionId, {
    purpose: "commit",
    orgSlug: organization.slug,
    connection,
    projectId: project.id,
    projectName: project.name,
    branch: input.branch,
  });
  return { kind: "authorize", url: found.github.userAuthorizeUrl({ state, redirectUri: callbackUrl() }) };
}
