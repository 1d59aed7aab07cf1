import type { Context } from "@towpath/core/context";
import { TowpathError } from "@towpath/core/errors";
import { recordGitHubUser, recordInstallation } from "@towpath/core/installation";
import { type GitHubInstallation, type GitHubUser, isGitHubError, type UserToken } from "@towpath/github";
import { gitHub, services } from "~/compose.server.ts";
import { contextForUser } from "~/http/caller.server.ts";
import { redirectTo } from "~/http/request.server.ts";
import { beginRoundTrip, callbackUrl, endRoundTrip, keepUserToken, type RoundTrip } from "./round-trip.server.ts";

type Visit = { readonly sessionId: string; readonly ctx: Context; readonly url: URL };

/** GET /api/github/callback: the user has authorized the App, or has declined. */
export function gitHubCallback(request: Request): Promise<Response> {
  return visit(request, async (here) => {
    const trip = await endRoundTrip(here.sessionId, here.url.searchParams.get("state"));
    const code = here.url.searchParams.get("code");
    if (!trip) return toProblem("expired");
    if (!code) return toProblem("declined", trip.orgSlug);
    const token = await gitHub().exchangeCode({ code, redirectUri: callbackUrl() });
    return afterAuthorization(here, trip, token);
  });
}

/** GET /api/github/setup: the App was installed, or its repositories were changed. */
export function gitHubSetup(request: Request): Promise<Response> {
  return visit(request, async (here) => {
    const trip = await endRoundTrip(here.sessionId, here.url.searchParams.get("state"));
    const installationId = Number(here.url.searchParams.get("installation_id"));
    if (!trip) return toProblem("expired");
    // An organization's owner may have to approve: then there is no installation yet.
    if (!Number.isSafeInteger(installationId) || installationId <= 0) return toProblem("requested", trip.orgSlug);
    const claim = { purpose: "claim", orgSlug: trip.orgSlug, installationId } as const;
    const code = here.url.searchParams.get("code");
    if (code) return afterAuthorization(here, claim, await gitHub().exchangeCode({ code }));
    const state = await beginRoundTrip(here.sessionId, claim);
    return redirectTo(gitHub().userAuthorizeUrl({ state, redirectUri: callbackUrl() }));
  });
}

async function afterAuthorization(here: Visit, trip: RoundTrip, token: UserToken): Promise<Response> {
  const viewer = await gitHub().viewer(token.accessToken);
  await recordGitHubUser({ ctx: here.ctx, input: { githubUserId: viewer.id } });
  const { orgSlug } = trip;
  if (trip.purpose === "quickstart") {
    await keepUserToken(here.sessionId, trip.serverName, token);
    return redirectTo(
      `/${orgSlug}/welcome/server-setup?serverName=${encodeURIComponent(trip.serverName)}&isCreating=true`,
    );
  }
  const installations = await gitHub().userInstallations(token.accessToken);
  const usable = installations.filter(({ suspended_at: suspended }) => suspended === null);
  if (trip.purpose === "claim") {
    return claim(here.ctx, trip, {
      viewer,
      token,
      installation: usable.find(({ id }) => id === trip.installationId),
    });
  }
  const own = usable.filter(({ account }) => account.type === "User" && account.id === viewer.id);
  if (own.length === 0) {
    const state = await beginRoundTrip(here.sessionId, { purpose: "install", orgSlug });
    return redirectTo(gitHub().installUrl(state));
  }
  await record(here.ctx, orgSlug, own);
  return toConnected(orgSlug);
}

/**
 * Connects an installation whose id came in the URL, where anybody can write one. GitHub lists an installation to
 * everyone who can read one of its repositories, but only an administrator of the account may open all of it to a team.
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

/** Only for who is signed in; a failure ends on a page that says what to do, not on a bare error. */
async function visit(request: Request, answer: (here: Visit) => Promise<Response>): Promise<Response> {
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
