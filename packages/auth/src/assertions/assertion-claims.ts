import { decodeJwt, decodeProtectedHeader, type JWTHeaderParameters, type JWTPayload } from "jose";

/** `typ` of an Identity Assertion JWT Authorization Grant (draft-ietf-oauth-identity-assertion-authz-grant). */
const assertionType = "oauth-id-jag+jwt";

/** What an identity assertion says, unverified. Times in milliseconds since 1970. */
export type AssertionClaims = {
  readonly issuer: string;
  readonly subject: string;
  readonly audiences: readonly string[];
  readonly clientId: string;
  /** The servers that it is for (RFC 8707). */
  readonly resources: readonly string[];
  /** Null: it names none, so it doesn't limit them. */
  readonly scopes: readonly string[] | null;
  readonly id: string;
  readonly kid: string;
  readonly issuedAt: number;
  readonly notBefore: number;
  readonly expiresAt: number;
  /** Null without one that the issuer has verified. */
  readonly verifiedEmail: string | null;
};

/** Why an assertion is refused, as its own content shows. `detail`: the member of its header or claim that is wrong. */
export type AssertionProblem = {
  readonly problem:
    | "assertion_invalid"
    | "assertion_for_other_issuer"
    | "assertion_for_other_client"
    | "assertion_for_other_server"
    | "assertion_scope_missing"
    | "assertion_expired"
    | "assertion_early";
  readonly detail: string;
  /** For the client. */
  readonly description: string;
  /** The servers that it is for, as far as it says so. */
  readonly resources?: readonly string[];
};

const maxLength = 8192;
const maxClaimLength = 1000;
const maxValues = 20;
/** They are exchanged at once; a client that is issued one for longer can't be stopped by its issuer. */
const maxLifeMs = 3_600_000;
/** Clocks of the machines that issue and check assertions may differ. */
const leewayMs = 10_000;
/** What narrows a grant in ways that this authorization server doesn't know, so that ignoring it would widen it. */
const unknownLimits = ["cnf", "authorization_details", "tenant", "aud_tenant"];

/** Reads an identity assertion, without checking its signature. Only asymmetric algorithms and one type are accepted. */
export function readAssertion(assertion: string): AssertionClaims | AssertionProblem {
  if (assertion.length > maxLength) return invalid("length", `is longer than ${maxLength} characters`);
  let header: JWTHeaderParameters;
  let claims: JWTPayload;
  try {
    [header, claims] = [decodeProtectedHeader(assertion) as JWTHeaderParameters, decodeJwt(assertion)];
  } catch {
    return invalid("form", "is no signed JWT");
  }
  const read = claimsOf(header, claims);
  return "problem" in read ? { ...read, resources: textsOf(claims.resource) ?? [] } : read;
}

function claimsOf(
  { alg, kid, typ, crit }: JWTHeaderParameters,
  claims: JWTPayload,
): AssertionClaims | AssertionProblem {
  if (!isText(typ) || typ.toLowerCase().replace(/^application\//, "") !== assertionType)
    return invalid(
      "typ",
      `needs the type ${assertionType}: ask the identity provider for an ID-JAG, not for another token`,
    );
  if (alg !== "RS256" && alg !== "ES256") return invalid("alg", "must be signed with RS256 or ES256");
  if (crit !== undefined) return invalid("crit", "has critical headers, which are not known here");
  if (!isText(kid)) return invalid("kid", "does not say which key signed it");
  const { iss, sub, jti, exp, iat, nbf, client_id: clientId, email } = claims;
  if (!isText(iss)) return invalid("iss", "names no issuer");
  if (!isText(sub)) return invalid("sub", "names no person");
  if (!isText(jti)) return invalid("jti", "has no id, so it could be used twice");
  if (!isText(clientId)) return invalid("client_id", "names no client");
  const [audiences, resources] = [textsOf(claims.aud), textsOf(claims.resource)];
  if (audiences?.length !== 1) return invalid("aud", "must name one authorization server");
  if (!resources || resources.length === 0) return invalid("resource", "names no server");
  if (!isTime(exp)) return invalid("exp", "does not say when it expires");
  if (!isTime(iat)) return invalid("iat", "does not say when it was issued");
  if (nbf !== undefined && !isTime(nbf)) return invalid("nbf", "has a time that is no number");
  if ((exp - iat) * 1000 > maxLifeMs) return invalid("exp", "lives longer than an hour");
  if (claims.scope !== undefined && typeof claims.scope !== "string")
    return invalid("scope", "must list scopes as text");
  const limit = unknownLimits.find((name) => claims[name] !== undefined);
  if (limit !== undefined) return invalid(limit, `has ${limit}, which is not supported here`);
  return {
    issuer: iss,
    subject: sub,
    audiences,
    clientId,
    resources,
    scopes: claims.scope === undefined ? null : claims.scope.split(" ").filter(Boolean),
    id: jti,
    kid,
    issuedAt: iat * 1000,
    notBefore: (nbf ?? iat) * 1000,
    expiresAt: exp * 1000,
    verifiedEmail: isText(email) && claims.email_verified === true ? email.toLowerCase() : null,
  };
}

type Expected = {
  /** Of this authorization server. */
  readonly issuer: string;
  /** The client that sent it. */
  readonly clientId: string;
  /** The server that the client also names; null: the one that the assertion names. */
  readonly resource: string | null;
  readonly scope: string;
  /** Milliseconds since 1970. */
  readonly now: number;
};

/** Why an assertion is of no use here and now; null: nothing in it says so. */
export function problemOfClaims(claims: AssertionClaims, expected: Expected): AssertionProblem | null {
  const { audiences, clientId, resources, scopes, notBefore, issuedAt, expiresAt } = claims;
  const [audience = ""] = audiences;
  if (audience !== expected.issuer) {
    const description = `The assertion is for another authorization server (aud). Ask the identity provider for one with the audience ${expected.issuer}.`;
    return { problem: "assertion_for_other_issuer", detail: shortened(audience), description };
  }
  if (clientId !== expected.clientId) {
    const description =
      "The assertion is for another client (client_id). Its client_id at the identity provider must be the one that this client has here.";
    return { problem: "assertion_for_other_client", detail: shortened(clientId), description };
  }
  if (expected.resource !== null ? !resources.includes(expected.resource) : resources.length > 1) {
    const description =
      expected.resource === null
        ? "The assertion is for several servers. Name one of them with the parameter resource."
        : "The assertion is for another server (resource). Ask the identity provider for one for this server.";
    return { problem: "assertion_for_other_server", detail: shortened(resources.join(" ")), description };
  }
  if (scopes !== null && !scopes.includes(expected.scope)) {
    const description = `The assertion does not allow the scope ${expected.scope}. An admin of the identity provider can allow it.`;
    return { problem: "assertion_scope_missing", detail: shortened(scopes.join(" ")), description };
  }
  if (expiresAt + leewayMs <= expected.now) {
    const description = "The assertion has expired. Ask the identity provider for a new one.";
    return { problem: "assertion_expired", detail: new Date(expiresAt).toISOString(), description };
  }
  const from = Math.max(notBefore, issuedAt);
  if (from - leewayMs > expected.now) {
    const description = "The assertion is not valid yet. Set the clocks of the identity provider and this instance.";
    return { problem: "assertion_early", detail: new Date(from).toISOString(), description };
  }
  return null;
}

const invalid = (detail: string, why: string): AssertionProblem => ({
  problem: "assertion_invalid",
  detail,
  description: `The assertion ${why}.`,
});

const shortened = (text: string) => text.slice(0, 300);

const isText = (value: unknown): value is string =>
  typeof value === "string" && value !== "" && value.length <= maxClaimLength;

/** A later time than JavaScript's dates have is none. */
const isTime = (value: unknown): value is number => typeof value === "number" && value >= 0 && value < 8.64e12;

function textsOf(value: unknown): string[] | null {
  const values = Array.isArray(value) ? value : [value];
  return values.length <= maxValues && values.every(isText) ? values : null;
}
