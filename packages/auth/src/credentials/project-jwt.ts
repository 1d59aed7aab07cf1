import { decodeJwt, decodeProtectedHeader } from "jose";
import type { SigningKeys } from "./signing-keys.ts";

/**
 * The user or admin whom a token authenticates to the servers of one project. Only the operator's admin token names no
 * user. `expiresAt`: milliseconds since 1970.
 */
export type ProjectIdentity = { projectId: string; expiresAt: number } & (
  | { principal: "admin"; userId: string | null; generation: number }
  | { principal: "user"; userId: string }
  /** The platform itself, which replays calls (CAP-4). */
  | { principal: "check"; userId: null }
);

const adminTtlSeconds = 900;
const userTtlSeconds = 300;

/** `aud` of a project's tokens, which no OAuth access token and no other project has. */
export const projectAudience = (projectId: string): string => `towpath:project:${projectId}`;
const audiencePattern = /^towpath:project:([0-9a-f-]{36})$/;

type Signed = { readonly token: string; readonly expiresAt: Date };

/**
 * Signs an admin JWT for one project, valid for 15 minutes (PRJ-10), while the project's generation stays the same and
 * its user, if it names one, may call the project's servers.
 */
export function signAdminJwt(
  keys: SigningKeys,
  input: { readonly projectId: string; readonly userId: string | null; readonly generation: number },
): Promise<Signed> {
  const { projectId, userId, generation } = input;
  const claims = { aud: projectAudience(projectId), generation, ...(userId !== null && { sub: userId }) };
  return keys.sign({ typ: "towpath-admin+jwt", claims, ttlSeconds: adminTtlSeconds });
}

/** Signs a JWT for a user, valid for 5 minutes: the server and the request log see them as the caller. */
export function signUserJwt(
  keys: SigningKeys,
  { projectId, userId }: { readonly projectId: string; readonly userId: string },
): Promise<Signed> {
  const claims = { aud: projectAudience(projectId), sub: userId };
  return keys.sign({ typ: "towpath-user+jwt", claims, ttlSeconds: userTtlSeconds });
}

/** Signs a JWT for calls that the platform replays, valid for 5 minutes: the request log has them as calls by `check`. */
export function signCheckJwt(keys: SigningKeys, { projectId }: { readonly projectId: string }): Promise<Signed> {
  return keys.sign({
    typ: "towpath-check+jwt",
    claims: { aud: projectAudience(projectId) },
    ttlSeconds: userTtlSeconds,
  });
}

/**
 * Verifies a token of any kind. The caller must compare project and generation, and check the user's membership.
 * Null for anything but a valid token of this instance.
 *
 * @throws when the database is unavailable and the token's key is unknown; the caller must then refuse
 */
export async function verifyProjectJwt(keys: SigningKeys, token: string): Promise<ProjectIdentity | null> {
  const unverified = unverifiedClaims(token);
  if (!unverified) return null;
  const { typ, audience, projectId } = unverified;
  const claims = await keys.verify(token, { typ, audience });
  if (!claims?.exp) return null;
  const { sub, generation } = claims;
  const common = { projectId, expiresAt: claims.exp * 1000 };
  if (typ === "towpath-check+jwt") return { ...common, principal: "check", userId: null };
  if (typ === "towpath-user+jwt") return sub === undefined ? null : { ...common, principal: "user", userId: sub };
  return typeof generation === "number" ? { ...common, principal: "admin", userId: sub ?? null, generation } : null;
}

/** Decides only how a token is verified. Null if it is no token for a project. */
function unverifiedClaims(token: string) {
  try {
    const { typ } = decodeProtectedHeader(token);
    const { aud } = decodeJwt(token);
    const projectId = typeof aud === "string" ? audiencePattern.exec(aud)?.[1] : undefined;
    if (projectId === undefined) return null;
    if (typ !== "towpath-admin+jwt" && typ !== "towpath-user+jwt" && typ !== "towpath-check+jwt") return null;
    return { typ, audience: projectAudience(projectId), projectId } as const;
  } catch {
    return null;
  }
}
