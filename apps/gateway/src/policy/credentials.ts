import {
  type AccessToken,
  type ApiKeyChecker,
  type ApiKeyGrant,
  apiKeyPrefix,
  checkCaller,
  type GrantChecker,
  isAccessToken,
  type Member,
  type Membership,
  type MembershipChecker,
  type ProjectIdentity,
  type SigningKeys,
  verifyCallerName,
  verifyProjectJwt,
} from "@towpath/auth/credentials";
import type { WorkloadIdentity, WorkloadVerifier } from "@towpath/auth/workloads";
import { LRUCache } from "lru-cache";
import { aboutSignIn, credentialsUnavailable, type RefusedSignIn, unknownServer } from "../gateway-error.ts";
import { callScope, type ProtectedResource, resourceOf } from "../oauth/resource.ts";
import type { Route } from "../read-model/routes.ts";
import type { Place, ServerAddress } from "../route/server-address.ts";
import type { AccessTokens } from "./access-tokens.ts";
import { insufficientScope, refusedToken, signInRequired, unauthorized } from "./refused-credentials.ts";
import { createWorkloadCallers } from "./workload-callers.ts";

/** What must stay valid while an answer is open: see OpenResponses. `expiresAt`: milliseconds since 1970. */
export type Credential =
  /** `membership`: of the person for whom a personal key acts. */
  | { kind: "api-key"; key: ApiKeyGrant; membership: Membership | null }
  /** `generation`: of an admin JWT, which ends with its generation; null for a person's own. */
  | { kind: "token"; expiresAt: number; generation: number | null; membership: Membership | null }
  /** A token of an issuer that the organization trusts. `expiresAt`: as above. */
  | { kind: "workload"; identity: WorkloadIdentity; subject: string; expiresAt: number; membership: null }
  /** An OAuth access token. An answer may outlast it, as clients renew tokens, but not the grant or the sign-in. */
  | {
      kind: "grant";
      grantId: string;
      /** The sign-in with which it ends; null for tokens of earlier versions. */
      familyId: string | null;
      clientId: string;
      membership: Membership;
      /** Of the sign-in that this call completes; null for all later calls. */
      authorizationId: string | null;
    };

/** The caller as the server sees it (GW-11). */
type Actor = {
  type: "api-key" | "admin" | "user" | "workload" | "check";
  organizationId: string;
  /** The person: null for a key of the organization, a workload, and the operator's admin JWT. */
  member: Member | null;
};

/** The sender of a request, for the request log and the server. */
export type Principal = {
  /** key:<id>, user:<id>, workload:<id of its identity>:<subject>, admin, check (a replayed call), or anonymous */
  id: string;
  /** Null where the platform does not know the caller. */
  actor: Actor | null;
  /** The caller's credential; null where none was required. */
  credential: Credential | null;
};

export const anonymous: Principal = { id: "anonymous", actor: null, credential: null };

/** `label`: of the requested server, which may not exist. `name`: the caller's name, signed by the dashboard. */
type Caller = Place & { authorization: string | undefined; name: string | undefined; url: string };
export type Authenticate = (route: Route | undefined, caller: Caller) => Promise<Principal> | Principal;

/**
 * Creates the check of callers (GW-4).
 *
 * The modes towpath-public and passthrough let everybody in: those servers are open, or authenticate themselves; the
 * dashboard may provide a signed name for the log.
 *
 * In towpath-cloud the caller needs an API key of the project's organization that may call this server, the project's
 * admin JWT, a member's token for the project, an OAuth access token that a client got from a member for this server, or
 * a token for it of an issuer that the organization trusts. A personal key acts as its person, and so does a client: with the person's current rights and identity.
 *
 * An unknown server (`route` undefined) answers like a private one, so that names cannot be probed: 401 without valid
 * credentials, 404 with valid credentials for something else.
 *
 * The check throws GatewayError 401 (no valid credentials), 403 (the token's scope does not suffice), 404 (valid, but
 * not for this server) or 503 (cannot be checked now, so the answer is no). `checkCaller` decides later which members
 * and keys may call this server.
 */
export function createAuthenticate(parts: {
  apiKeys: ApiKeyChecker;
  members: MembershipChecker;
  accessTokens: AccessTokens;
  grants: GrantChecker;
  serverAddress: ServerAddress;
  signingKeys: SigningKeys;
  workloads: WorkloadVerifier;
}): Authenticate {
  const tokens = createTokenCache(parts.signingKeys);
  const byWorkload = createWorkloadCallers(parts.workloads);
  return (route, caller) => {
    if (!route || route.authMode === "towpath-cloud") return check(route, caller);
    return caller.name === undefined ? anonymous : named(route, caller.name);
  };

  /** Without an actor: neither the server nor the limits learn who the person is. */
  async function named({ projectId }: Route, token: string): Promise<Principal> {
    const userId = await verifyCallerName(parts.signingKeys, { token, projectId });
    if (userId === checkCaller) return { ...anonymous, id: checkCaller };
    return userId === null ? anonymous : { ...anonymous, id: `user:${userId}` };
  }

  async function check(route: Route | undefined, caller: Caller): Promise<Principal> {
    const resource = resourceOf(parts.serverAddress, caller);
    if (hasCredentials(caller.url)) {
      const description = "Tokens in the URL end up in logs and are refused: use the Authorization header.";
      const signIn = { problem: "token_in_url", isProven: false } as const;
      throw aboutSignIn(unauthorized(resource, { code: "invalid_request", description }), signIn);
    }
    const token = /^Bearer +([^\s,]+)$/i.exec(caller.authorization ?? "")?.[1];
    if (token === undefined) {
      throw signInRequired(resource);
    }
    const known = parts.accessTokens.known(token, resource.url);
    const principal = known
      ? await byGrant(route, known, resource)
      : token.startsWith(apiKeyPrefix)
        ? await byApiKey(route, token)
        : isAccessToken(token)
          ? await byAccessToken(route, token, resource)
          : ((await byWorkload(route, token, resource)) ?? (await byToken(route, token)));
    if (principal === "invalid") {
      const problem = token.startsWith(apiKeyPrefix) ? "key_unknown" : "credentials_unknown";
      const description =
        "The credentials are not valid or have expired: get new ones in the dashboard, and check the server's name.";
      throw aboutSignIn(unauthorized(resource, { code: "invalid_token", description }), { problem, isProven: false });
    }
    if (!route) throw unknownServer();
    if ("problem" in principal) throw aboutSignIn(unknownServer(), principal);
    return principal;
  }

  async function byApiKey(route: Route | undefined, token: string): Promise<Principal | Invalid> {
    const key = await checked(parts.apiKeys.verify(token));
    if (!key) return "invalid";
    const { keyId, organizationId, userId, projectIds } = key;
    if (!route || organizationId !== route.organizationId) return { problem: "key_of_other_team", isProven: false };
    const known = { isProven: true, keyId, userId };
    if (projectIds !== null && !projectIds.includes(route.projectId)) {
      return { ...known, problem: "key_for_other_server" };
    }
    if (userId === null) {
      return {
        id: `key:${keyId}`,
        actor: { type: "api-key", organizationId, member: null },
        credential: { kind: "api-key", key, membership: null },
      };
    }
    const member = await checked(parts.members.find({ userId, organizationId }));
    if (!member) return { ...known, problem: "not_a_member" };
    return {
      id: `user:${userId}`,
      actor: { type: "user", organizationId, member },
      credential: { kind: "api-key", key, membership: member },
    };
  }

  async function byAccessToken(
    route: Route | undefined,
    token: string,
    resource: ProtectedResource,
  ): Promise<Principal> {
    const verified = await parts.accessTokens.verify(token, resource.url).catch(cannotCheck);
    if (typeof verified === "string") throw refusedToken(resource, verified);
    return byGrant(route, verified, resource);
  }

  async function byGrant(
    route: Route | undefined,
    verified: AccessToken,
    resource: ProtectedResource,
  ): Promise<Principal> {
    const { userId, clientId } = verified;
    const known = { isProven: true, userId, clientId };
    if (!verified.scopes.includes(callScope)) {
      throw aboutSignIn(insufficientScope(resource), { ...known, problem: "scope_missing" });
    }
    const grant = await checked(parts.grants.find(verified));
    // A deleted server has no grants either.
    if (!route || grant?.projectId !== route.projectId) {
      throw aboutSignIn(refusedToken(resource, "ended"), { ...known, problem: "access_ended" });
    }
    const { member } = grant;
    if (member.userId !== userId || grant.clientId !== clientId) {
      throw refusedToken(resource, "foreign");
    }
    return {
      id: `user:${member.userId}`,
      actor: { type: "user", organizationId: member.organizationId, member },
      credential: {
        kind: "grant",
        grantId: grant.grantId,
        familyId: verified.familyId,
        clientId,
        membership: member,
        authorizationId: verified.authorizationId,
      },
    };
  }

  async function byToken(route: Route | undefined, token: string): Promise<Principal | Invalid> {
    const identity = await tokens.verify(token).catch(cannotCheck);
    if (!identity) return "invalid";
    if (identity.projectId !== route?.projectId) return { problem: "credentials_unknown", isProven: false };
    // A generation newer than the route's belongs to a reload that is still to come.
    if (identity.principal === "admin" && identity.generation < route.adminJwtGeneration) return "invalid";
    const { organizationId } = route;
    const { userId, expiresAt } = identity;
    if (identity.principal === "check") {
      const actor = { type: "check", organizationId, member: null } as const;
      return { id: checkCaller, actor, credential: { kind: "token", expiresAt, generation: null, membership: null } };
    }
    const member = userId === null ? null : await checked(parts.members.find({ userId, organizationId }));
    if (userId !== null && !member) return { problem: "not_a_member", isProven: false };
    return {
      id: identity.principal === "user" ? `user:${identity.userId}` : "admin",
      actor: { type: identity.principal, organizationId, member },
      credential: {
        kind: "token",
        expiresAt,
        membership: member,
        generation: identity.principal === "admin" ? identity.generation : null,
      },
    };
  }
}

/** RFC 6750 §2.3 has a query parameter for tokens, and some clients put a key into one of their own. */
function hasCredentials(url: string): boolean {
  const queryAt = url.indexOf("?");
  if (queryAt === -1) return false;
  for (const [name, value] of new URLSearchParams(url.slice(queryAt))) {
    if (name.toLowerCase() === "access_token" || value.startsWith(apiKeyPrefix)) return true;
  }
  return false;
}

/** Not valid at all, or valid but not for this server. */
type Invalid = "invalid" | RefusedSignIn;

function cannotCheck(): never {
  throw credentialsUnavailable();
}

/** A checker's result, usually at once. Rejects with GatewayError 503 when it can't check. */
function checked<Found>(found: Found | Promise<Found>): Found | Promise<Found> {
  return found instanceof Promise ? found.catch(cannotCheck) : found;
}

// A token's signature stays valid until it expires, so the result can be cached that long.
function createTokenCache(keys: SigningKeys) {
  const cache = new LRUCache<string, ProjectIdentity>({ max: 1000 });
  return {
    async verify(token: string): Promise<ProjectIdentity | null> {
      const hit = cache.get(token);
      if (hit && hit.expiresAt > Date.now()) return hit;
      const identity = await verifyProjectJwt(keys, token);
      if (identity) cache.set(token, identity);
      return identity;
    },
  };
}
