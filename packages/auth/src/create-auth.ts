import type { Database } from "@towpath/db";
import { session as sessionTable } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { type AuthConfig, betterAuthFor } from "./auth.ts";
import { oidcCallbackRequest, type SignInStart, startSignIn } from "./sign-in.ts";

/** Who is signed in, as the session says it. */
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

/** Why the embedded provider refused, for the form. */
export type CredentialProblem =
  | "wrong_credentials"
  | "already_exists"
  | "too_many_attempts"
  | "invalid"
  | "unavailable";
export type CredentialResult =
  | { readonly ok: true; readonly headers: Headers }
  | { readonly ok: false; readonly problem: CredentialProblem };

export type SignUpInput = {
  readonly firstName: string;
  readonly lastName: string;
  readonly email: string;
  readonly password: string;
};

/** Sign-in of one instance. Answers carry `Set-Cookie` headers that the caller must pass to the browser. */
export type Auth = {
  readonly embedded: boolean;
  /** The session that the request's cookie belongs to; null without a valid one. */
  session(headers: Headers): Promise<SignedIn | null>;
  /** Null: the issuer cannot be reached. */
  start(call: { returnPath: string; signUp: boolean; headers: Headers }): Promise<SignInStart | null>;
  /** Embedded provider only. `headers` of the form's request: they carry the client's address for the rate limit. */
  signIn(input: { email: string; password: string }, headers: Headers): Promise<CredentialResult>;
  signUp(input: SignUpInput, headers: Headers): Promise<CredentialResult>;
  /** Ends the session; the returned headers clear its cookie. */
  signOut(headers: Headers): Promise<Headers>;
  /** The issuer's answer: a redirect to the return path or to the page that tells the problem. */
  oidcCallback(request: Request): Promise<Response>;
  /** The caller has checked that the user is a member (AUTH-5, AUTH-6). */
  setActiveOrganization(sessionId: string, organizationId: string): Promise<void>;
};

export function createAuth(config: AuthConfig, db: Database): Auth {
  let current = betterAuthFor(config, db);

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
      // Asking the database for nothing would be the price of every anonymous request.
      if (!headers.get("cookie")?.includes("towpath.session_token=")) return null;
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
    async start(call) {
      const started = await startSignIn(current, config, call);
      if (started) return started;
      // The issuer was away when its endpoints were asked for, which happens once: ask again.
      current = betterAuthFor(config, db);
      return startSignIn(current, config, call);
    },
    signIn: async (input, headers) => credentialResult(await post("/sign-in/email", input, headers)),
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

async function credentialResult(response: Response): Promise<CredentialResult> {
  if (response.ok) return { ok: true, headers: response.headers };
  if (response.status === 429) return { ok: false, problem: "too_many_attempts" };
  const body: unknown = await response.json().catch(() => null);
  const code = typeof body === "object" && body !== null && "code" in body ? body.code : null;
  if (typeof code === "string" && code.startsWith("USER_ALREADY_EXISTS"))
    return { ok: false, problem: "already_exists" };
  if (response.status === 401) return { ok: false, problem: "wrong_credentials" };
  return { ok: false, problem: response.status >= 500 ? "unavailable" : "invalid" };
}
