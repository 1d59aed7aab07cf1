import { deriveKey, type KeyPurpose } from "@towpath/crypto";
import { decodeProtectedHeader, jwtVerify, SignJWT } from "jose";

const issuer = "towpath";
/** Maximum lifetime of a token for a project, in seconds. */
const maxLifetimeSeconds = 3600;

/**
 * Whom a token authenticates to the servers of one project: the principal `admin`, or a user. An admin token may name
 * the user who requested it. `expiresAt`: milliseconds since 1970.
 */
export type ProjectIdentity = { projectId: string; expiresAt: number } & (
  | { principal: "admin"; userId: string | null }
  | { principal: "user"; userId: string }
);

// Each kind has its own type and key, so that one kind is never accepted as the other.
const kinds = {
  admin: { type: "towpath-admin+jwt", purpose: "admin-jwt" },
  user: { type: "towpath-user+jwt", purpose: "user-jwt" },
} as const satisfies Record<string, { readonly type: string; readonly purpose: KeyPurpose }>;
type Kind = keyof typeof kinds;

const keys = new Map<string, Uint8Array>();

function keyOf(kind: Kind, secret: string): Uint8Array {
  const name = `${kind} ${secret}`;
  let key = keys.get(name);
  if (!key) {
    key = deriveKey(secret, kinds[kind].purpose).bytes;
    keys.set(name, key);
  }
  return key;
}

type Signed = { token: string; expiresAt: Date };

/**
 * Signs an admin JWT for one project (PRJ-10): HS256, `aud` is the project's id. `ttlSeconds`: by default and at most
 * one hour.
 */
export function signAdminJwt(input: {
  secret: string;
  projectId: string;
  userId?: string;
  ttlSeconds?: number;
}): Promise<Signed> {
  return sign("admin", input);
}

/** Signs a JWT for a user: the server and the request log see them as the caller. */
export function signUserJwt(input: {
  secret: string;
  projectId: string;
  userId: string;
  ttlSeconds?: number;
}): Promise<Signed> {
  return sign("user", input);
}

async function sign(
  kind: Kind,
  input: { secret: string; projectId: string; userId?: string; ttlSeconds?: number },
): Promise<Signed> {
  const issuedAt = Math.floor(Date.now() / 1000);
  const expiresAt = issuedAt + Math.min(Math.max(input.ttlSeconds ?? maxLifetimeSeconds, 1), maxLifetimeSeconds);
  const jwt = new SignJWT({ principal: kind })
    .setProtectedHeader({ alg: "HS256", typ: kinds[kind].type })
    .setIssuer(issuer)
    .setAudience(input.projectId)
    .setIssuedAt(issuedAt)
    .setExpirationTime(expiresAt);
  if (input.userId !== undefined) jwt.setSubject(input.userId);
  return { token: await jwt.sign(keyOf(kind, input.secret)), expiresAt: new Date(expiresAt * 1000) };
}

/**
 * Verifies a token. The caller must compare `projectId` and check the user's membership. Null for anything but a valid
 * token of this instance: wrong key, algorithm or type, expired, or issued for longer than an hour.
 */
export async function verifyProjectJwt(input: { secret: string; token: string }): Promise<ProjectIdentity | null> {
  try {
    const { typ } = decodeProtectedHeader(input.token);
    const kind = typ === kinds.user.type ? "user" : "admin";
    const { payload } = await jwtVerify(input.token, keyOf(kind, input.secret), {
      algorithms: ["HS256"],
      typ: kinds[kind].type,
      issuer,
      requiredClaims: ["iat", "exp", "aud"],
      maxTokenAge: maxLifetimeSeconds,
    });
    const { principal, aud, exp, sub } = payload;
    if (principal !== kind || typeof aud !== "string" || exp === undefined) return null;
    const common = { projectId: aud, expiresAt: exp * 1000 };
    if (kind === "admin") return { ...common, principal: "admin", userId: sub ?? null };
    return sub === undefined ? null : { ...common, principal: "user", userId: sub };
  } catch {
    return null;
  }
}
