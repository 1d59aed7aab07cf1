import type { Context } from "@towpath/core/context";
import { notFound, TowpathError } from "@towpath/core/errors";
import { numberOf } from "@towpath/core/sources/github-connection/numbers";
import { recordGitHubUser, recordInstallation } from "@towpath/core/sources/installation";
import { type GitHub, type GitHubInstallation, type GitHubUser, isGitHubError, type UserToken } from "@towpath/github";
import { gitHub, services } from "~/compose.server.ts";
import { contextForUser } from "~/http/caller.server.ts";
import { redirectTo } from "~/http/request.server.ts";
import {
  beginRoundTrip,
  callbackUrl,
  commitTokenName,
  continueTokenName,
  endRoundTrip,
  type RoundTrip,
  storeUserToken,
} from "./round-trip.server.ts";

type Caller = { readonly sessionId: string; readonly ctx: Context };

/** GET /api/github/callback: the user has authorized the App, or has declined. */
export function gitHubCallback(request: Request): Promise<Response> {
  return withSession(request, (caller, parameters) =>
    finishAuthorization(caller, { state: parameters.get("state"), code: parameters.get("code") }),
  );
}

/** GET /api/github/setup: the App was installed, or its repositories were changed. */
export function gitHubSetup(request: Request): Promise<Response> {
  return withSession(request, async (caller, parameters) => {
    const trip = await endRoundTrip(caller.sessionId, parameters.get("state"));
    const installationId = Number(parameters.get("installation_id"));
    if (!trip) return problemPath("expired");
    // Without an id, an owner of the GitHub organization must approve the installation first.
    if (!Number.isSafeInteger(installationId) || installationId <= 0) return problemPath("requested", trip);
    const { orgSlug, connection } = trip;
    const claim = { purpose: "claim", orgSlug, connection, installationId, from: fromOf(trip) } as const;
    const client = await clientOf(trip);
    const code = parameters.get("code");
    if (code) return afterAuthorization(caller, claim, await client.exchangeCode({ code }));
    const state = await beginRoundTrip(caller.sessionId, claim);
    return client.userAuthorizeUrl({ state, redirectUri: callbackUrl() });
  });
}

/** Ends a round trip with the code of an authorization. Returns the next path, or URL at GitHub. */
export async function finishAuthorization(
  caller: Caller,
  { state, code }: { readonly state: string | null; readonly code: string | null },
): Promise<string> {
  const trip = await endRoundTrip(caller.sessionId, state);
  if (!trip) return problemPath("expired");
  if (!code) return problemPath("declined", trip);
  const client = await clientOf(trip);
  return afterAuthorization(caller, trip, await client.exchangeCode({ code, redirectUri: callbackUrl() }));
}

/** @throws TowpathError `not_found` if the connection was removed meanwhile */
async function clientOf({ connection }: RoundTrip): Promise<GitHub> {
  const found = await gitHub().find(connection);
  if (!found) throw notFound("GitHub connection");
  return found.github;
}

async function afterAuthorization(caller: Caller, trip: RoundTrip, token: UserToken): Promise<string> {
  const client = await clientOf(trip);
  const viewer = await client.viewer(token.accessToken);
  await recordGitHubUser({ ctx: caller.ctx, input: { githubUserId: numberOf(trip.connection, viewer.id) } });
  if (trip.purpose === "quickstart") {
    await storeUserToken(caller.sessionId, trip.serverName, token);
    return `/${trip.orgSlug}/welcome/server-setup?serverName=${encodeURIComponent(trip.serverName)}&isCreating=true`;
  }
  if (trip.purpose === "continue") {
    await storeUserToken(caller.sessionId, continueTokenName(trip), token);
    return formPath(trip, viewer.login);
  }
  if (trip.purpose === "commit") {
    await storeUserToken(caller.sessionId, commitTokenName(trip), token);
    return codePath(trip, { signedInAs: viewer.login });
  }
  const installations = await client.userInstallations(token.accessToken);
  const usable = installations.filter(({ suspended_at: suspended }) => suspended === null);
  if (trip.purpose === "claim") {
    const installation = usable.find(({ id }) => id === trip.installationId);
    return claim(caller.ctx, trip, { client, viewer, token, installation });
  }
  const own = usable.filter(({ account }) => account.type === "User" && account.id === viewer.id);
  if (own.length === 0) {
    const { orgSlug, connection, from } = trip;
    return client.installUrl(await beginRoundTrip(caller.sessionId, { purpose: "install", orgSlug, connection, from }));
  }
  await record(caller.ctx, trip, own);
  return connectedPath(trip);
}

/** The form that sent the person to GitHub, as it was. */
function formPath(trip: Extract<RoundTrip, { purpose: "continue" }>, signedInAs: string): string {
  const query = new URLSearchParams({
    account: String(trip.installationId),
    gitHubName: trip.gitHubName,
    signedInAs,
    visibility: trip.private ? "private" : "public",
  });
  return `/${trip.orgSlug}/${encodeURIComponent(trip.projectName)}/settings?${query}#source`;
}

/** The page of the code, which kept what was to be committed. */
function codePath(trip: Extract<RoundTrip, { purpose: "commit" }>, outcome: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams({ branch: trip.branch, ...outcome });
  return `/${trip.orgSlug}/${encodeURIComponent(trip.projectName)}/code?${query}`;
}

/**
 * Connects an installation whose id is from the URL, which anyone can forge. GitHub lists an installation to everyone
 * who can read one of its repositories, but only an administrator of the account may connect it to an organization.
 */
async function claim(
  ctx: Context,
  trip: Extract<RoundTrip, { purpose: "claim" }>,
  claimant: {
    readonly client: GitHub;
    readonly viewer: GitHubUser;
    readonly token: UserToken;
    readonly installation: GitHubInstallation | undefined;
  },
): Promise<string> {
  const { client, viewer, token, installation } = claimant;
  if (!installation) return problemPath("not_yours", trip);
  const { account } = installation;
  try {
    if (!(await client.administers(token.accessToken, viewer, account)))
      return problemPath("not_admin", trip, account.login);
  } catch (error) {
    if (isGitHubError(error, "forbidden")) return problemPath("unverified", trip, account.login);
    throw error;
  }
  await record(ctx, trip, [installation]);
  return connectedPath(trip);
}

async function record(
  ctx: Context,
  { orgSlug, connection }: RoundTrip,
  installations: readonly GitHubInstallation[],
): Promise<void> {
  for (const { id, account } of installations) {
    const installationId = numberOf(connection, id);
    const input = { orgSlug, installationId, accountLogin: account.login, accountType: account.type };
    await recordInstallation({ ctx, input });
  }
}

const fromOf = (trip: RoundTrip) => ("from" in trip ? trip.from : trip.purpose === "continue" ? "settings" : "welcome");

const connectedPath = (trip: RoundTrip) =>
  fromOf(trip) === "settings" ? `/${trip.orgSlug}/settings/github` : `/${trip.orgSlug}/welcome/connect-github`;

type Problem =
  | "expired"
  | "declined"
  | "requested"
  | "not_yours"
  | "not_admin"
  | "unverified"
  | "unavailable"
  | "failed";

/** The page that shows the problem, in the flow that the user started in. */
function problemPath(problem: Problem, trip?: RoundTrip, account?: string): string {
  if (!trip) return `/new/github-install?problem=${problem}`;
  if (trip.purpose === "commit") return codePath(trip, { problem });
  const place = fromOf(trip) === "settings" ? "settings/github?" : "welcome/connect-github?success=false&";
  const about = account ? `&account=${encodeURIComponent(account)}` : "";
  return `/${trip.orgSlug}/${place}problem=${problem}${about}`;
}

/** Requires a session. A failure redirects to a page with instructions. */
async function withSession(
  request: Request,
  goOn: (caller: Caller, parameters: URLSearchParams) => Promise<string>,
): Promise<Response> {
  const signedIn = await services().auth.session(request.headers);
  if (!signedIn) return redirectTo("/login");
  const ctx = contextForUser(signedIn.user.id, request.headers);
  try {
    return redirectTo(await goOn({ sessionId: signedIn.sessionId, ctx }, new URL(request.url).searchParams));
  } catch (error) {
    services().log.warn({ err: error }, "GitHub round trip failed");
    if (isGitHubError(error, "unavailable")) return redirectTo(problemPath("unavailable"));
    if (error instanceof TowpathError || isGitHubError(error)) return redirectTo(problemPath("failed"));
    throw error;
  }
}
