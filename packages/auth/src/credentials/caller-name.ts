import type { SigningKeys } from "./signing-keys.ts";

/** Carries the name of a caller to the gateway, which forwards no `towpath*` header of a client to a server. */
export const callerNameHeader = "towpath-caller";

/** The name of the platform itself, which replays calls (CAP-4); people are named by their id. */
export const checkCaller = "check";

/** It is signed for each request. */
const ttlSeconds = 60;

/** `aud` of the names of callers of a project's server. */
const callerAudience = (projectId: string): string => `towpath:caller:${projectId}`;

/**
 * Signs the caller's name for the log of a server that lets everybody in: valid for a minute, for one project. It
 * grants no access.
 *
 * @throws when the database is unavailable and no key has been read yet
 */
export async function signCallerName(
  keys: SigningKeys,
  { projectId, userId }: { readonly projectId: string; readonly userId: string },
): Promise<string> {
  const claims = { aud: callerAudience(projectId), sub: userId };
  return (await keys.sign({ typ: "towpath-caller+jwt", claims, ttlSeconds })).token;
}

/** The user whom a token names as the caller of this project's server. Null for others, and if it can't be checked. */
export async function verifyCallerName(
  keys: SigningKeys,
  { token, projectId }: { readonly token: string; readonly projectId: string },
): Promise<string | null> {
  const expected = { typ: "towpath-caller+jwt", audience: callerAudience(projectId) } as const;
  const claims = await keys.verify(token, expected).catch(() => null);
  return claims?.sub ?? null;
}
