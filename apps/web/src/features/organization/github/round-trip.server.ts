import {
  createOneTimeState,
  deleteSessionSecret,
  readSessionSecret,
  storeSessionSecret,
  takeOneTimeState,
} from "@towpath/auth";
import { newId } from "@towpath/core/ids";
import type { UserToken } from "@towpath/github";
import { z } from "zod";
import { services } from "~/compose.server.ts";

/** The page that the user started from and returns to. */
export const startedFrom = z.enum(["welcome", "settings"]).default("welcome");

/** The organization, and the number of the GitHub connection. */
const ofConnection = { orgSlug: z.string(), connection: z.number().int() };

/** Why the browser was sent to GitHub, and what to do when it returns. */
const roundTripSchema = z.discriminatedUnion("purpose", [
  /** Authorize, to list the user's installations. */
  z.object({ purpose: z.literal("connect"), ...ofConnection, from: startedFrom }),
  /** Install the App. */
  z.object({ purpose: z.literal("install"), ...ofConnection, from: startedFrom }),
  /** Authorize again, to prove that the installation just made is the user's. `installationId`: the host's own. */
  z.object({ purpose: z.literal("claim"), ...ofConnection, installationId: z.number().int(), from: startedFrom }),
  /** Authorize, to create a repository in the user's account. */
  z.object({ purpose: z.literal("quickstart"), ...ofConnection, serverName: z.string() }),
  /** Authorize, to create one that continues a repository of this instance. The rest are the form's values. */
  z.object({
    purpose: z.literal("continue"),
    ...ofConnection,
    projectName: z.string(),
    repository: z.string(),
    installationId: z.number().int(),
    gitHubName: z.string(),
    private: z.boolean(),
  }),
  /** Authorize, to commit files of a server's repository. */
  z.object({
    purpose: z.literal("commit"),
    ...ofConnection,
    projectId: z.string(),
    projectName: z.string(),
    branch: z.string(),
  }),
]);
export type RoundTrip = z.infer<typeof roundTripSchema>;

const roundTripSeconds = 15 * 60;
/** GitHub's tokens last eight hours; a quickstart needs only minutes. */
const tokenSeconds = 15 * 60;

/** The `state` of a round trip to GitHub, bound to the session that starts it. */
export function beginRoundTrip(sessionId: string, data: RoundTrip): Promise<string> {
  return createOneTimeState(services().database.db, { newId, sessionId, data, ttlSeconds: roundTripSeconds });
}

/** Null if `state` is unknown, used, expired or of another session. */
export async function endRoundTrip(sessionId: string, state: string | null): Promise<RoundTrip | null> {
  if (!state) return null;
  const data = await takeOneTimeState(services().database.db, state, sessionId);
  return roundTripSchema.safeParse(data).data ?? null;
}

/**
 * A user's token is stored for one server name only, so that somebody else's link can't use it for another server.
 */
const secretKey = (sessionId: string, serverName: string) => ({
  secret: services().config.secret,
  sessionId,
  name: `github-user-token:${serverName}`,
});

/**
 * Name of the token that moves a repository of this instance; no server's name looks like it. Includes the connection,
 * so that a token of one host is never sent to another.
 */
export const continueTokenName = (of: {
  readonly orgSlug: string;
  readonly connection: number;
  readonly repository: string;
}) => `continue:${of.connection}:${of.orgSlug}/${of.repository}`;

/** Name of the token that commits files of a server's repository. Includes the connection, as above. */
export const commitTokenName = (of: { readonly connection: number; readonly projectId: string }) =>
  `commit:${of.connection}:${of.projectId}`;

export async function storeUserToken(sessionId: string, serverName: string, token: UserToken): Promise<void> {
  const latest = new Date(Date.now() + tokenSeconds * 1000);
  const expiresAt = token.expiresAt && token.expiresAt < latest ? token.expiresAt : latest;
  const value = token.accessToken;
  await storeSessionSecret(services().database.db, { ...secretKey(sessionId, serverName), newId, value, expiresAt });
}

/** Null if there is none or it has expired. */
export function readUserToken(sessionId: string, serverName: string): Promise<string | null> {
  return readSessionSecret(services().database.db, secretKey(sessionId, serverName));
}

export function deleteUserToken(sessionId: string, serverName: string): Promise<void> {
  return deleteSessionSecret(services().database.db, secretKey(sessionId, serverName));
}

/** Registered with the App as its callback URL. */
export const callbackUrl = () => `${services().config.baseUrl}/api/github/callback`;
