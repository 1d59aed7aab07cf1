import type { SigningKeys } from "@towpath/auth/credentials";
import { LRUCache } from "lru-cache";
import { credentialsUnavailable } from "../gateway-error.ts";
import { resourceOf } from "../oauth/resource.ts";
import type { Principal } from "../policy/credentials.ts";
import type { Route } from "../read-model/routes.ts";
import type { Place, ServerAddress } from "../route/server-address.ts";

const ttlSeconds = 60;
/** A server that checks the assertion of a held or slow request must still find it valid. */
const renewBeforeMs = 30_000;
const maxAssertions = 10_000;

/** Null for a server without assertions, and for a caller that the platform does not know. */
export type AssertIdentity = (route: Route, principal: Principal) => string | null | Promise<string | null>;

/**
 * Creates the signed form of the identity headers (GW-11): a JWT for one server that any JWT library verifies with the
 * published keys. A caller's requests to a server share one until half of its life is over, so only the first of them
 * waits for a signature. The result throws GatewayError 503 when no key can be read.
 */
export function createAssertIdentity(keys: SigningKeys, address: ServerAddress, now = Date.now): AssertIdentity {
  const cache = new LRUCache<string, { token: Promise<string>; renewAt: number }>({ max: maxAssertions });
  return (route, principal) => {
    const { actor } = principal;
    if (!actor || !route.identityAssertion) return null;
    const { member } = actor;
    // All that is asserted: a changed role or address yields a new assertion at once.
    const subject = [
      ...placesOf(route).map(({ label, domain }) => domain ?? label),
      principal.id,
      actor.type,
      member?.role,
      member?.email,
      member?.emailVerified,
    ].join("\n");
    const known = cache.get(subject);
    if (known && known.renewAt > now()) return known.token;
    const token = keys
      .sign({
        typ: "towpath-identity+jwt",
        claims: claimsOf(route, principal, audienceOf(route, address)),
        ttlSeconds,
      })
      .then((signed) => signed.token)
      .catch(() => {
        cache.delete(subject);
        throw credentialsUnavailable();
      });
    cache.set(subject, { token, renewAt: now() + ttlSeconds * 1000 - renewBeforeMs });
    return token;
  };
}

const placesOf = ({ label, labels, domains }: Route): readonly Place[] => [
  ...(labels.length > 0 ? labels : [label]).map((each) => ({ label: each, domain: null })),
  ...domains.map((domain) => ({ label, domain })),
];

/** A server knows itself by one of its addresses, such as that from before it was renamed, regardless of its caller's. */
function audienceOf(route: Route, address: ServerAddress): string | string[] {
  const [first = "", ...others] = placesOf(route).map((place) => resourceOf(address, place).url);
  return others.length === 0 ? first : [first, ...others];
}

function claimsOf(route: Route, { id, actor }: Principal, audience: string | string[]) {
  const member = actor?.member;
  return {
    sub: id,
    aud: audience,
    type: actor?.type,
    organization: route.organizationId,
    project: route.projectId,
    ...(member && {
      user: member.userId,
      role: member.role,
      email: member.email,
      email_verified: member.emailVerified,
    }),
  };
}
