import { hkdfSync } from "node:crypto";
import { jwtVerify, SignJWT } from "jose";

const issuer = "towpath";
const tokenType = "towpath-admin+jwt";
/** The longest life of an admin JWT, seconds. */
export const adminJwtMaxSeconds = 3600;

/** Who an admin JWT speaks for: always the principal `admin` of one project; `userId` when a person asked for it. */
export type AdminIdentity = { principal: "admin"; projectId: string; userId: string | null; expiresAt: number };

const keys = new Map<string, Uint8Array>();

/** Derived from the instance's root secret, so that neither a leaked derived key nor another use of the root helps. */
function adminKey(secret: string): Uint8Array {
  let key = keys.get(secret);
  if (!key) {
    key = new Uint8Array(hkdfSync("sha256", secret, "", "towpath/admin-jwt/v1", 32));
    keys.set(secret, key);
  }
  return key;
}

/**
 * Signs an admin JWT for one project (PRJ-10): HS256, `aud` is the project's id, life of `ttlSeconds` (default and
 * at most one hour).
 */
export async function signAdminJwt(input: {
  secret: string;
  projectId: string;
  userId?: string;
  ttlSeconds?: number;
}): Promise<{ token: string; expiresAt: Date }> {
  const issuedAt = Math.floor(Date.now() / 1000);
  const expiresAt = issuedAt + Math.min(Math.max(input.ttlSeconds ?? adminJwtMaxSeconds, 1), adminJwtMaxSeconds);
  const jwt = new SignJWT({ principal: "admin" })
    .setProtectedHeader({ alg: "HS256", typ: tokenType })
    .setIssuer(issuer)
    .setAudience(input.projectId)
    .setIssuedAt(issuedAt)
    .setExpirationTime(expiresAt);
  if (input.userId !== undefined) jwt.setSubject(input.userId);
  return { token: await jwt.sign(adminKey(input.secret)), expiresAt: new Date(expiresAt * 1000) };
}

/**
 * Checks an admin JWT for one project. Null for anything that is not one: other project, other key, other algorithm
 * or type, expired, or issued for longer than an hour.
 */
export async function verifyAdminJwt(input: {
  secret: string;
  projectId: string;
  token: string;
}): Promise<AdminIdentity | null> {
  try {
    const { payload } = await jwtVerify(input.token, adminKey(input.secret), {
      algorithms: ["HS256"],
      typ: tokenType,
      issuer,
      audience: input.projectId,
      requiredClaims: ["iat", "exp"],
      maxTokenAge: adminJwtMaxSeconds,
    });
    if (payload.principal !== "admin" || payload.exp === undefined) return null;
    return {
      principal: "admin",
      projectId: input.projectId,
      userId: payload.sub ?? null,
      expiresAt: payload.exp * 1000,
    };
  } catch {
    return null;
  }
}
