import type { Context } from "@towpath/core/context";
import { TowpathError } from "@towpath/core/errors";
import { recordGitHubUser, recordInstallation } from "@towpath/core/installation";
import { type GitHubInstallation, type GitHubUser, isGitHubError, type UserToken } from "@towpath/github";
import { gitHub, services } from "~/compose.server.ts";
import { contextForUser } from "~/http/caller.server.ts";
import { redirectTo } from "~/http/request.server.ts";
import { beginRoundTrip, callbackUrl, endRoundTrip, type RoundTrip, storeUserToken } from "./round-trip.server.ts";

type Callback = { readonly sessionId: string; readonly ctx: Context; readonly url: URL };

/** GET /api/github/callback: the user has authorized the App, or has declined. */
export function gitHubCallback(request: Request): Promise<Response> {
  return withSession(request, async (callback) => {
    const trip = await endRoundTrip(callback.sessionId, callback.url.searchParams.get("state"));
    const code = callback.url.searchParams.get("code");
    if (!trip) return toProblem("expired");
    if (!code) return toProblem("declined", trip.orgSlug);
    const token = await gitHub().exchangeCode({ code, redirectUri: callbackUrl() });
    return afterAuthorization(callback, trip, token);
  });
}

/** GET /api/github/setup: the App was installed, or its repositories were changed. */
export function gitHubSetup(request: Request): Promise<Response> {
  return withSession(request, async (callback) => {
    const trip = await endRoundTrip(callback.sessionId, callback.url.searchParams.get("state"));
    const installationId = Number(callback.url.searchParams.get("installation_id"));
    if (!trip) return toProblem("expired");
    // Without an installation yet, an owner of the GitHub organization has to approve it first.
    if (!Number.isSafeInteger(installationId) || installationId <= 0) return toProblem("requested", trip.orgSlug);
    const claim = { purpose: "claim", orgSlug: trip.orgSlug, installationId } as const;
    const code = callback.url.searchParams.get("code");
    if (code) return afterAuthorization(callback, claim, await gitHub().exchangeCode({ code }));
    const state = await beginRoundTrip(callback.sessionId, claim);
    return redirectTo(gitHub().userAuthorizeUrl({ state, redirectUri: callbackUrl() }));
  });
}

async function afterAuthorization(callback: Callback, trip: RoundTrip, token: UserToken): Promise<Response> {
  const viewer = await gitHub().viewer(token.accessToken);
  await recordGitHubUser({ ctx: callback.ctx, input: { githubUserId: viewer.id } });
  const { orgSlug } = trip;
  if (trip.purpose === "quickstart") {
    await storeUserToken(callback.sessionId, trip.serverName, token);
    return redirectTo(
      `/${orgSlug}/welcome/server-setup?serverName=${encodeURIComponent(trip.serverName)}&isCreating=true`,
    );
  }
  const installations = await gitHub().userInstallations(token.accessToken);
  const usable = installations.filter(({ suspended_at: suspended }) => suspended === null);
  if (trip.purpose === "claim") {
    return claim(callback.ctx, trip, {
      viewer,
      token,
      installation: usable.find(({ id }) => id === trip.installationId),
    });
  }
  const own = usable.filter(({ account }) => account.type === "User" && account.id === viewer.id);
  if (own.length === 0) {
    const state = await beginRoundTrip(callback.sessionId, { purpose: "install", orgSlug });
    return redirectTo(gitHub().installUrl(state));
  }
  await record(callback.ctx, orgSlug, own);
  return toConnected(orgSlug);
}

/**
 * Connects an installation whose id came in the URL, which anyone can forge. GitHub lists an installation to
 * everyone who can read one of its repositories, but only an administrator of the account may open it to a team.
 */
async function claim(
  ctx: Context,
  trip: Extract<RoundTrip, { purpose: "claim" }>,
  claimant: {
    readonly viewer: GitHubUser;
    readonly token: UserToken;
    readonly installation: GitHubInstallation | undefined;
  },
): Promise<Response> {
  const { viewer, token, installation } = claimant;
  if (!installation) return toProblem("not_yours", trip.orgSlug);
  const { account } = installation;
  try {
    if (!(await gitHub().administers(token.accessToken, viewer, account)))
      return toProblem("not_admin", trip.orgSlug, account.login);
  } catch (error) {
    if (isGitHubError(error, "forbidden")) return toProblem("unverified", trip.orgSlug, account.login);
    throw error;
  }
  await record(ctx, trip.orgSlug, [installation]);
  return toConnected(trip.orgSlug);
}

async function record(ctx: Context, orgSlug: string, installations: readonly GitHubInstallation[]): Promise<void> {
  for (const { id, account } of installations) {
    const input = { orgSlug, installationId: id, accountLogin: account.login, accountType: account.type };
    await recordInstallation({ ctx, input });
  }
}

const toConnected = (orgSlug: string) => redirectTo(`/${orgSlug}/welcome/connect-github`);

type Problem =
  | "expired"
  | "declined"
  | "requested"
  | "not_yours"
  | "not_admin"
  | "unverified"
  | "unavailable"
  | "failed";

const toProblem = (problem: Problem, orgSlug?: string, account?: string) =>
  redirectTo(
    orgSlug
      ? `/${orgSlug}/welcome/connect-github?success=false&problem=${problem}${account ? `&account=${encodeURIComponent(account)}` : ""}`
      : `/new/github-install?problem=${problem}`,
  );

/** Requires a session. A failure redirects to a page that says what to do. */
async function withSession(request: Request, answer: (callback: Callback) => Promise<Response>): Promise<Response> {
  const signedIn = await services().auth.session(request.headers);
  if (!signedIn) return redirectTo("/login");
  const ctx = contextForUser(signedIn.user.id, request.headers);
  try {
    return await answer({ sessionId: signedIn.sessionId, ctx, url: new URL(request.url) });
  } catch (error) {
    services().log.warn({ err: error }, "GitHub round trip failed");
    if (isGitHubError(error, "unavailable")) return toProblem("unavailable");
    if (error instanceof TowpathError || isGitHubError(error)) return toProblem("failed");
    throw error;
  }
}
