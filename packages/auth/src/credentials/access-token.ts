import { decodeJwt, decodeProtectedHeader, type JWTPayload } from "jose";
import type { SigningKeys } from "./signing-keys.ts";

/** `typ` of an OAuth access token (RFC 9068 §2.1), which distinguishes it from our other tokens. */
const accessTokenType = "at+jwt";

/** The content of a valid access token. The caller must look the grant up. */
export type AccessToken = {
  userId: string;
  clientId: string;
  grantId: string;
  /** The sign-in with which it ends; null for tokens of earlier versions. */
  familyId: string | null;
  scopes: readonly string[];
  /** The authorization whose code was exchanged for it; null for a renewed token. */
  authorizationId: string | null;
  /** Milliseconds since 1970. */
  expiresAt: number;
};

/** Why a token was refused, according to its own unverified content. */
type Refusal = "expired" | "other-audience" | "foreign";

/** Whether a token claims to be an access token, unverified. */
export function isAccessToken(token: string): boolean {
  try {
    return decodeProtectedHeader(token).typ === accessTokenType;
  } catch {
    return false;
  }
}

/**
 * Verifies an OAuth access token of this instance for one server (RFC 9068 §4). `resource`: the server's URL; null for
 * any server, to revoke the token.
 *
 * @throws when its key is not known yet and the database is unavailable
 */
export async function verifyAccessToken(input: {
  token: string;
  resource: string | null;
  keys: Pick<SigningKeys, "verify">;
}): Promise<AccessToken | null> {
  const { token, keys } = input;
  const resource = input.resource ?? audienceOf(token);
  if (resource === null) return null;
  const claims = await keys.verify(token, { typ: accessTokenType, audience: resource });
  if (!claims) return null;
  const { sub, exp, client_id: clientId, towpath_grant: grantId, scope } = claims;
  if (sub === undefined || exp === undefined || typeof clientId !== "string") return null;
  if (typeof grantId !== "string" || !uuid.test(grantId)) return null;
  const scopes = typeof scope === "string" ? scope.split(" ").filter(Boolean) : [];
  const { towpath_authorization: authorization, towpath_family: family } = claims;
  const [authorizationId, familyId] = [uuidOrNull(authorization), uuidOrNull(family)];
  return { userId: sub, clientId, grantId, familyId, scopes, authorizationId, expiresAt: exp * 1000 };
}

function audienceOf(token: string): string | null {
  try {
    const { aud } = decodeJwt(token);
    return typeof aud === "string" ? aud : null;
  } catch {
    return null;
  }
}

/** Why `verifyAccessToken` found nothing, for the token's sender. Never a reason to accept it. */
export function whyRefused({ token, resource }: { token: string; resource: string }): Refusal {
  let claims: JWTPayload;
  try {
    claims = decodeJwt(token);
  } catch {
    return "foreign";
  }
  const { aud, exp } = claims;
  if (typeof exp === "number" && exp * 1000 <= Date.now()) return "expired";
  if (aud !== undefined && aud !== resource && !(Array.isArray(aud) && aud.includes(resource))) return "other-audience";
  return "foreign";
}

const uuidOrNull = (claim: unknown) => (typeof claim === "string" && uuid.test(claim) ? claim : null);

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
