import { decodeJwt, decodeProtectedHeader } from "jose";

/** What a token of another issuer says of itself, unverified. Times in milliseconds since 1970. */
export type TokenHead = {
  readonly issuer: string;
  readonly subject: string;
  readonly audiences: readonly string[];
  readonly kid: string;
  readonly issuedAt: number;
  readonly notBefore: number;
  /** With leeway for a clock that differs. */
  readonly expiresAt: number;
};

/** Why a token can't be accepted by anybody here, as its own content shows. */
export type WorkloadTokenProblem = "unsupported" | "expired" | "not_yet_valid" | "lives_too_long" | "other_audience";

const maxTokenLength = 8192;
const maxIssuerLength = 500;
const maxKidLength = 256;
const maxAudiences = 20;
/** Of a service account 339: twice that leaves room for others, and fits a header. */
const subjectPattern = /^[!-~]{1,700}$/;
/** No end of a token reaches us, so one must not live long. */
const maxLifeMs = 24 * 3_600_000;
/** Clocks of the machines that issue and check tokens may differ. */
const leewayMs = 10_000;

/**
 * Reads a token that another issuer than `ownIssuer` claims to have signed; null for anything else. "unsupported": it
 * lacks what we need, or is signed or typed in another way.
 */
export function readTokenHead(token: string, ownIssuer: string): TokenHead | "unsupported" | null {
  let header: ReturnType<typeof decodeProtectedHeader>;
  let claims: ReturnType<typeof decodeJwt>;
  try {
    [header, claims] = [decodeProtectedHeader(token), decodeJwt(token)];
  } catch {
    return null;
  }
  const { iss, sub, aud, exp, iat, nbf } = claims;
  if (typeof iss !== "string" || iss === "" || iss === ownIssuer) return null;
  const { alg, kid, typ, crit } = header;
  if (token.length > maxTokenLength || iss.length > maxIssuerLength) return "unsupported";
  if ((alg !== "RS256" && alg !== "ES256") || crit !== undefined) return "unsupported";
  // An issuer's tokens for other purposes have types of their own (RFC 8725 §3.11).
  if (typ !== undefined && typ.toUpperCase() !== "JWT") return "unsupported";
  if (typeof kid !== "string" || kid === "" || kid.length > maxKidLength) return "unsupported";
  const audiences = typeof aud === "string" ? [aud] : aud;
  if (!Array.isArray(audiences) || audiences.length > maxAudiences) return "unsupported";
  if (!audiences.every((each) => typeof each === "string")) return "unsupported";
  if (typeof sub !== "string" || !subjectPattern.test(sub)) return "unsupported";
  if (!isTime(exp) || !isTime(iat) || (nbf !== undefined && !isTime(nbf))) return "unsupported";
  return {
    issuer: iss,
    subject: sub,
    audiences,
    kid,
    issuedAt: iat * 1000,
    notBefore: (nbf ?? iat) * 1000,
    expiresAt: exp * 1000 + leewayMs,
  };
}

const isTime = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);

/** Why a token is of no use at the server with the URL `resource` now; null: nothing in it says so. */
export function problemOf(head: TokenHead, resource: string, now: number): WorkloadTokenProblem | null {
  const { audiences, notBefore, issuedAt, expiresAt } = head;
  if (!audiences.includes(resource)) return "other_audience";
  if (expiresAt <= now) return "expired";
  if (Math.max(notBefore, issuedAt) - leewayMs > now) return "not_yet_valid";
  return expiresAt - leewayMs - issuedAt > maxLifeMs ? "lives_too_long" : null;
}
