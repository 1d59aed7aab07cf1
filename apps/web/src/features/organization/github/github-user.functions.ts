import { queryOptions } from "@tanstack/react-query";
import { createServerFn } from "@tanstack/react-start";
import { notFound, TowpathError } from "@towpath/core/errors";
import { requireStorageForBuilds } from "@towpath/core/operations/host-storage";
import { requireFreeName } from "@towpath/core/projects/project";
import { projectNameSchema } from "@towpath/core/projects/project/schema";
import { isGitHubError, withGitHub } from "@towpath/github";
import { z } from "zod";
import { gitHub } from "~/compose.server.ts";
import { organizationAccess, selfAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";
import { finishAuthorization } from "./github-callback.server.ts";
import {
  beginRoundTrip,
  callbackUrl,
  deleteUserToken,
  readUserToken,
  startedFrom,
  storeUserToken,
} from "./round-trip.server.ts";

// Users' GitHub tokens stay on the server: no call gives one to the browser.

const orgSlug = z.string().min(1).max(100);

/** Why a page sends the browser to GitHub. */
/** The number of the instance's App; default: the preferred one. */
const connectionNumber = z.number().int().min(0).optional();

const stateSchema = z.discriminatedUnion("purpose", [
  /** Authorize, to connect the user's own account. */
  z.object({ purpose: z.literal("connect"), from: startedFrom, connection: connectionNumber }),
  /** Install the App on another account, or change its repositories. */
  z.object({ purpose: z.literal("install"), from: startedFrom, connection: connectionNumber }),
  /** Authorize, to copy the sample into the user's account. */
  z.object({ purpose: z.literal("quickstart"), serverName: projectNameSchema }),
]);

/**
 * The GitHub URL for a purpose (ONB-2, ONB-3). Its `state` is opaque, represents the given one, and works once, for 15
 * minutes, in this session. For the quickstart, name and storage are checked first.
 */
const getUserOAuthUrl = createServerFn({ method: "POST" })
  .middleware([organizationAccess("installation.manage")])
  .validator(input(z.object({ orgSlug, state: stateSchema })))
  .handler(async ({ context, data }) => {
    const { ctx, signedIn } = context;
    if (data.state.purpose === "quickstart") {
      await requireFreeName(ctx.db, data.state.serverName);
      await requireStorageForBuilds(ctx);
    }
    const named = "connection" in data.state ? data.state.connection : undefined;
    const found = named === undefined ? await gitHub().preferred() : await gitHub().find(named);
    if (!found) throw notFound("GitHub connection");
    const { github: client, number: connection } = found;
    const state = await beginRoundTrip(signedIn.sessionId, { ...data.state, orgSlug: data.orgSlug, connection });
    if (data.state.purpose === "install") return { url: client.installUrl(state) };
    return { url: client.userAuthorizeUrl({ state, redirectUri: callbackUrl() }) };
  });

/**
 * Exchanges the code of an authorization and performs its state's purpose; `next` is the next path. The callback route
 * does the same for browsers that GitHub redirects.
 *
 * @public
 */
export const exchangeCode = createServerFn({ method: "POST" })
  .middleware([selfAccess])
  .validator(input(z.object({ state: z.string().min(1).max(500), code: z.string().min(1).max(500) })))
  .handler(async ({ context, data }) => ({
    next: await withGitHub(() =>
      finishAuthorization({ ctx: context.ctx, sessionId: context.signedIn.sessionId }, data),
    ),
  }));

const tokenInput = z.object({ serverName: projectNameSchema });

/**
 * Stores a user's token, encrypted, for the quickstart of one server: at most 15 minutes, in this session. GitHub must
 * accept it.
 *
 * @public
 */
export const storeTemporaryToken = createServerFn({ method: "POST" })
  .middleware([selfAccess])
  .validator(input(tokenInput.extend({ accessToken: z.string().min(1).max(500) })))
  .handler(async ({ context, data: { serverName, accessToken } }) => {
    const { login } = await withGitHub(async () => (await gitHub().preferred()).github.viewer(accessToken));
    const token = { accessToken, expiresAt: null, refreshToken: null, refreshTokenExpiresAt: null };
    await storeUserToken(context.signedIn.sessionId, serverName, token);
    return { login };
  });

/**
 * The owner of the token stored for the quickstart of a server, never the token itself; null for none, or one that
 * GitHub has revoked, which is then deleted.
 */
export const getTemporaryToken = createServerFn({ method: "GET" })
  .middleware([selfAccess])
  .validator(input(tokenInput))
  .handler(async ({ context, data: { serverName } }) => {
    const { sessionId } = context.signedIn;
    const token = await readUserToken(sessionId, serverName);
    if (!token) return null;
    try {
      const { id, login, name, email, avatar_url } = await withGitHub(async () =>
        (await gitHub().preferred()).github.viewer(token),
      );
      return { user: { id, login, name, email, avatar_url } };
    } catch (error) {
      if (!(error instanceof TowpathError && isGitHubError(error.cause, "unauthorized"))) throw error;
      await deleteUserToken(sessionId, serverName);
      return null;
    }
  });

const prepared = 10 * 60_000;

/** A URL that is ready before its button is pressed, and renewed before its state ends. */
export const oauthUrlQuery = (data: { orgSlug: string; state: z.input<typeof stateSchema> }) =>
  queryOptions({
    queryKey: ["github-url", data.orgSlug, data.state],
    queryFn: async ({ signal }) => (await getUserOAuthUrl({ data, signal })).url,
    staleTime: prepared,
    gcTime: prepared,
    refetchInterval: prepared,
  });
