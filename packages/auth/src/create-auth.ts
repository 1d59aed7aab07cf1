import { getIP } from "@better-auth/core/utils/ip";
import type { Database } from "@towpath/db";
import { session as sessionTable } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { type AuthConfig, betterAuthFor, cookiePrefixOf, hasRepeatedCookie } from "./auth.ts";
import { oidcCallbackRequest, type SignInStart, startSignIn } from "./sign-in.ts";
import { beginAttempt } from "./sign-in-throttle.ts";

/** A session and its user. */
export type SignedIn = {
  readonly sessionId: string;
  readonly activeOrganizationId: string | null;
  readonly user: {
    readonly id: string;
    readonly email: string;
    readonly firstName: string | null;
    readonly lastName: string | null;
    readonly profilePictureUrl: string | null;
  };
};

/** Why the embedded provider rejected a sign-in or sign-up, for the form. */
export type CredentialProblem =
  | { readonly problem: "wrong_credentials" | "already_exists" | "invalid" | "unavailable" }
  | { readonly problem: "too_many_attempts"; readonly retryAfterSeconds: number };
type CredentialResult = { readonly ok: true; readonly headers: Headers } | ({ readonly ok: false } & CredentialProblem);

type SignUpInput = {
  readonly firstName: string;
  readonly lastName: string;
  readonly email: string;
  readonly password: string;
};

/** Sign-in of one instance. Results contain `Set-Cookie` headers that the caller must pass to the browser. */
export type Auth = {
  readonly embedded: boolean;
  /** The session of the request's cookie; null without a valid one, and for a repeated cookie. */
  session(headers: Headers): Promise<SignedIn | null>;
  /** Whether the request contains one of our cookies twice. Such a request is never signed in and can't sign in. */
  hasRepeatedCookie(headers: Headers): boolean;
  start(call: { returnPath: string; signUp: boolean; headers: Headers }): Promise<SignInStart>;
  /** Embedded provider only. `headers`: of the form's request, with the client's address for the rate limit. */
  signIn(input: { email: string; password: string }, headers: Headers): Promise<CredentialResult>;
  signUp(input: SignUpInput, headers: Headers): Promise<CredentialResult>;
  /** Ends the session; the returned headers clear its cookie. */
  signOut(headers: Headers): Promise<Headers>;
  /** Handles the issuer's callback: redirects to the return path, or to `signInProblemPath`. */
  oidcCallback(request: Request): Promise<Response>;
  /** The caller must have checked that the user is a member (AUTH-5, AUTH-6). */
  setActiveOrganization(sessionId: string, organizationId: string): Promise<void>;
};

export function createAuth(config: AuthConfig, db: Database): Auth {
  let current = betterAuthFor(config, db);
  const cookiePrefix = cookiePrefixOf(config);

  const post = (path: string, body: unknown, headers: Headers) => {
    const sent = new Headers(headers);
    sent.set("content-type", "application/json");
    sent.set("origin", config.baseUrl);
    sent.delete("content-length");
    const url = `${config.baseUrl}/api/auth${path}`;
    return current.handler(new Request(url, { method: "POST", headers: sent, body: JSON.stringify(body) }));
  };

  return {
    embedded: config.oidc === null,
    async session(headers) {
      // Anonymous requests need no database query.
      if (!headers.get("cookie")?.includes(`${cookiePrefix}.session_token=`)) return null;
      if (hasRepeatedCookie(headers, cookiePrefix)) return null;
      const found = await current.api.getSession({ headers, query: { disableCookieCache: true } });
      if (!found) return null;
      return {
        sessionId: found.session.id,
        activeOrganizationId: found.session.activeOrganizationId ?? null,
        user: {
          id: found.user.id,
          email: found.user.email,
          firstName: found.user.firstName ?? null,
          lastName: found.user.lastName ?? null,
          profilePictureUrl: found.user.image ?? null,
        },
      };
    },
    hasRepeatedCookie: (headers) => hasRepeatedCookie(headers, cookiePrefix),
    async start(call) {
      const started = await startSignIn(current, config, call, post);
      if (started.kind !== "issuer_unreachable") return started;
      // Discovery failed, and better-auth runs it only once per instance: try again with a new one.
      current = betterAuthFor(config, db);
      return startSignIn(current, config, call, post);
    },
    async signIn(input, headers) {
      const attempt = await beginAttempt(db, { email: input.email, address: getIP(headers, current.options) });
      if (typeof attempt === "number") return tooManyAttempts(attempt);
      const result = await credentialResult(await post("/sign-in/email", input, headers));
      if (result.ok) await attempt.succeeded();
      else if (result.problem !== "wrong_credentials") await attempt.withdrawn();
      return result;
    },
    signUp: async (input, headers) => {
      const name = `${input.firstName} ${input.lastName}`.trim();
      return credentialResult(await post("/sign-up/email", { ...input, name }, headers));
    },
    async signOut(headers) {
      return (await post("/sign-out", {}, headers)).headers;
    },
    async oidcCallback(request) {
      if (config.oidc === null) return new Response("Not Found", { status: 404 });
      return current.handler(oidcCallbackRequest(config.oidc, request));
    },
    async setActiveOrganization(sessionId, organizationId) {
      await db.update(sessionTable).set({ activeOrganizationId: organizationId }).where(eq(sessionTable.id, sessionId));
    },
  };
}

const tooManyAttempts = (retryAfterSeconds: number): CredentialResult => ({
  ok: false,
  problem: "too_many_attempts",
  retryAfterSeconds,
});

async function credentialResult(response: Response): Promise<CredentialResult> {
  if (response.ok) return { ok: true, headers: response.headers };
  if (response.status === 429) return tooManyAttempts(Number(response.headers.get("x-retry-after")) || 60);
  const body: unknown = await response.json().catch(() => null);
  const code = typeof body === "object" && body !== null && "code" in body ? body.code : null;
  if (typeof code === "string" && code.startsWith("USER_ALREADY_EXISTS")) {
    return { ok: false, problem: "already_exists" };
  }
  if (response.status === 401) return { ok: false, problem: "wrong_credentials" };
  return { ok: false, problem: response.status >= 500 ? "unavailable" : "invalid" };
}
