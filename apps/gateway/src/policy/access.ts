import { callingRoles } from "@towpath/auth/credentials";
import type { Identified } from "../call/states.ts";
import { aboutSignIn, GatewayError } from "../gateway-error.ts";
import type { Access } from "../read-model/routes.ts";
import type { Credential } from "./credentials.ts";
import type { Policy } from "./policy.ts";

/**
 * The caller: a person with their current role, or the id of a key or workload identity of the organization. A personal
 * key counts as its person (KEY-3). Neither: the auth mode requires no caller, or an admin JWT names none.
 */
type Caller = { role: string | null; keyId: string | null };

/** Whether a server's access policy admits a caller (GW-15). */
export function mayCall(access: Access | null, caller: Caller): boolean {
  return refusalOf(access, caller) === null;
}

/** The id by which a server's access policy names a caller who is no person; null: it names none. */
export function listedIdOf(credential: Credential | null): string | null {
  if (credential?.kind === "workload") return credential.identity.id;
  return credential?.kind === "api-key" && credential.membership === null ? credential.key.keyId : null;
}

/** Refuses callers that the server's access policy doesn't admit (GW-15). */
export const accessPolicy: Policy<unknown, Identified> = (_parts, { call, principal }) => {
  const member = principal.actor?.member ?? null;
  const { credential } = principal;
  const keyId = listedIdOf(credential);
  const what = credential?.kind === "workload" ? "workload identity" : "API key";
  const reason = refusalOf(call.route.access, { role: member?.role ?? null, keyId }, what);
  if (reason === null) return "passed";
  throw aboutSignIn(new GatewayError("caller_not_allowed", reason), {
    problem: credential?.kind === "api-key" ? "key_not_allowed" : "caller_not_allowed",
    isProven: true,
    userId: member?.userId ?? null,
    keyId: credential?.kind === "api-key" ? credential.key.keyId : null,
    clientId: credential?.kind === "grant" ? credential.clientId : null,
  });
};

function refusalOf(access: Access | null, { role, keyId }: Caller, what = "API key"): string | null {
  const roles = access?.roles ?? callingRoles;
  if (role !== null && !roles.includes(role)) {
    const allowed = roles.length === 0 ? "no role, only API keys" : `only ${roles.join(", ")}`;
    return `Your role in the server's organization, ${role}, may not call this server: it allows ${allowed}. Ask an admin of the organization.`;
  }
  if (keyId !== null && access?.apiKeyIds && !access.apiKeyIds.includes(keyId)) {
    return `This ${what} may not call this server. An admin of its organization can allow ${what === "API key" ? "the key" : "it"} on the server's Access page.`;
  }
  return null;
}
