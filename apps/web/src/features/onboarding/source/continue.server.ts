import type { SignedIn } from "@towpath/auth";
import type { Context } from "@towpath/core/context";
import { TowpathError } from "@towpath/core/errors";
import { atHost } from "@towpath/core/sources/github-connection/numbers";
import { continueOnGitHub, needsGitHubUser, otherGitHubUser } from "@towpath/core/sources/source";
import { isGitHubError } from "@towpath/github";
import { gitHub } from "~/compose.server.ts";
import {
  beginRoundTrip,
  callbackUrl,
  continueTokenName,
  deleteUserToken,
  readUserToken,
} from "~/features/organization/github/round-trip.server.ts";

export type Continued =
  /** The owner of the account must first let Towpath create a repository there. */
  | { readonly kind: "authorize"; readonly url: string }
  /** `cloneUrl`: the new clone URL. */
  | {
      readonly kind: "moved";
      readonly fullName: string;
      readonly cloneUrl: string;
      readonly servers: readonly string[];
    };

type Call = {
  readonly signedIn: SignedIn;
  readonly ctx: Context<"gitHubTarget" | "instanceRepositories" | "secrets">;
  readonly input: {
    readonly orgSlug: string;
    /** The project whose settings the person returns to. */
    readonly projectName: string;
    readonly repository: string;
    readonly installationId: number;
    readonly gitHubName: string;
    readonly private: boolean;
  };
};

/**
 * Moves a repository to GitHub. A personal account needs that person's token, so the browser may have to visit GitHub
 * first and then return to the form; the token is stored on the server for this repository.
 */
export async function continueRepository({ signedIn, ctx, input }: Call): Promise<Continued> {
  const { projectName, ...move } = input;
  const { connection } = atHost(input.installationId);
  const tokenName = continueTokenName({ ...input, connection });
  const userToken = await readUserToken(signedIn.sessionId, tokenName);
  try {
    const { repository, servers } = await continueOnGitHub({ ctx, input: { ...move, userToken } });
    await deleteUserToken(signedIn.sessionId, tokenName);
    const { fullName = "", url: cloneUrl = "" } = repository.continued ?? {};
    return { kind: "moved", fullName, cloneUrl, servers };
  } catch (error) {
    if (!(error instanceof TowpathError)) throw error;
    const isRevoked = userToken !== null && isGitHubError(error.cause, "unauthorized");
    // Signing in as somebody else will store another token.
    if (isRevoked || error.detail === otherGitHubUser) await deleteUserToken(signedIn.sessionId, tokenName);
    if (error.detail !== needsGitHubUser && !isRevoked) throw error;
    const found = await gitHub().find(connection);
    if (found === null) throw error;
    const state = await beginRoundTrip(signedIn.sessionId, { purpose: "continue", connection, ...input });
    return { kind: "authorize", url: found.github.userAuthorizeUrl({ state, redirectUri: callbackUrl() }) };
  }
}
