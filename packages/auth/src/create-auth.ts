import { getIP } from "@better-auth/core/utils/ip";
import type { Database } from "@towpath/db";
import { session as sessionTable, twoFactor } from "@towpath/db/schema";
import { and, eq } from "drizzle-orm";
import { type AuthConfig, betterAuthFor } from "./auth.ts";
import { cookiePrefixOf, hasRepeatedCookie } from "./cookies.ts";
import { createEmailChange, type EmailChange } from "./email-change.ts";
import { createBackChannelLogout } from "./issuer-sign-out.ts";
import { codeOf, createOwnAccount, type OwnAccount } from "./own-account.ts";
import { createPasswordReset, type PasswordReset } from "./password-reset.ts";
import { endOtherSessions, endSession, listSessions, recordUse, type SessionView } from "./sessions.ts";
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
  /** Of the second factor: the code is wrong; or the sign-in was too long ago, or had too many wrong codes. */
  | { readonly problem: "wrong_code" | "start_again" }
  | { readonly problem: "too_many_attempts"; readonly retryAfterSeconds: number };
type CredentialResult =
  /** `needsSecondFactor`: nobody is signed in yet; the headers contain the cookie for `signInSecondFactor`. */
  | { readonly ok: true; readonly headers: Headers; readonly needsSecondFactor: boolean }
  | ({ readonly ok: false; readonly headers?: Headers } & CredentialProblem);

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
  start(call: { returnPath: string; signUp: boolean; email?: string | null; headers: Headers }): Promise<SignInStart>;
  /** Embedded provider only. `headers`: of the form's request, with the client's address for the rate limit. */
  signIn(input: { email: string; password: string }, headers: Headers): Promise<CredentialResult>;
  /** The second step of a sign-in: a code of the authenticator app, or one of the recovery codes, which works once. */
  signInSecondFactor(input: { kind: "app" | "recovery"; code: string }, headers: Headers): Promise<CredentialResult>;
  signUp(input: SignUpInput, headers: Headers): Promise<CredentialResult>;
  /**
   * Ends the session; the returned headers clear its cookie. `issuerUrl`: where the browser ends the issuer's session
   * too (OpenID Connect RP-Initiated Logout 1.0); null without an issuer, and for one that can't.
   */
  signOut(headers: Headers): Promise<{ readonly headers: Headers; readonly issuerUrl: string | null }>;
  /** Ends the sessions that a logout token names (OpenID Connect Back-Channel Logout 1.0); null if it is invalid. */
  backChannelLogout(logoutToken: string): Promise<number | null>;
  /** Handles the issuer's callback: redirects to the return path, or to `signInProblemPath`. */
  oidcCallback(request: Request): Promise<Response>;
  /** The caller must have checked that the user is a member (AUTH-5, AUTH-6). */
  setActiveOrganization(sessionId: string, organizationId: string): Promise<void>;
  readonly sessions: {
    list(own: { userId: string; sessionId: string }): Promise<readonly SessionView[]>;
    end(userId: string, sessionId: string): Promise<boolean>;
    endOthers(own: { userId: string; sessionId: string }): Promise<number>;
  };
  readonly account: OwnAccount;
  readonly passwordReset: PasswordReset;
  readonly emailChange: EmailChange;
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

  const addressOf = (headers: Headers) => getIP(headers, current.options);
  const readRecoveryCodes = async (userId: string) => {
    const verified = and(eq(twoFactor.userId, userId), eq(twoFactor.verified, true));
    if ((await db.$count(twoFactor, verified)) === 0) return null;
    return (await current.api.viewBackupCodes({ body: { userId } })).backupCodes;
  };
  const hash = async (password: string) => (await current.$context).password.hash(password);
  /** For the session in the headers. */
  const isPassword = async (password: string, headers: Headers) => {
    const answer = await current.api.verifyPassword({ body: { password }, headers, asResponse: true });
    if (!answer.ok && codeOf(await answer.json()) !== "INVALID_PASSWORD")
      throw new Error("the password was not checked");
    return answer.ok;
  };
  const backChannelLogout = config.oidc && createBackChannelLogout(db, config.oidc);

  return {
    embedded: config.oidc === null,
    async session(headers) {
      // Anonymous requests need no database query.
      if (!headers.get("cookie")?.includes(`${cookiePrefix}.session_token=`)) return null;
      if (hasRepeatedCookie(headers, cookiePrefix)) return null;
      const found = await current.api.getSession({ headers, query: { disableCookieCache: true } });
      if (!found) return null;
      const seen = { limits: config.sessions, address: addressOf(headers) };
      if (!(await recordUse(db, found.session, seen))) return null;
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
      // Discovery failed, and better-auth runs it only once per instance: retry with a new one.
      current = betterAuthFor(config, db);
      return startSignIn(current, config, call, post);
    },
    async signIn(input, headers) {
      const attempt = await beginAttempt(db, { email: input.email, address: addressOf(headers) });
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
    async signInSecondFactor({ kind, code }, headers) {
      const path = kind === "app" ? "/two-factor/verify-totp" : "/two-factor/verify-backup-code";
      return credentialResult(await post(path, { code }, headers));
    },
    async signOut(headers) {
      const ended = await post("/sign-out", { callbackURL: `${config.baseUrl}/`, disableRedirect: true }, headers);
      const body: unknown = await ended.json().catch(() => null);
      const url = typeof body === "object" && body !== null && "url" in body ? body.url : null;
      return { headers: ended.headers, issuerUrl: typeof url === "string" && config.endIssuerSession ? url : null };
    },
    backChannelLogout: async (logoutToken) => (backChannelLogout ? backChannelLogout(logoutToken) : null),
    async oidcCallback(request) {
      if (config.oidc === null) return new Response("Not Found", { status: 404 });
      return current.handler(oidcCallbackRequest(config.oidc, request));
    },
    async setActiveOrganization(sessionId, organizationId) {
      await db.update(sessionTable).set({ activeOrganizationId: organizationId }).where(eq(sessionTable.id, sessionId));
    },
    sessions: {
      list: (own) => listSessions(db, own, config.sessions),
      end: (userId, sessionId) => endSession(db, userId, sessionId),
      endOthers: (own) => endOtherSessions(db, own),
    },
    account: createOwnAccount(db, post, readRecoveryCodes, isPassword),
    passwordReset: createPasswordReset(db, { newId: config.newId, hash }),
    emailChange: createEmailChange(db, config.newId),
  };
}

const tooManyAttempts = (retryAfterSeconds: number): CredentialResult => ({
  ok: false,
  problem: "too_many_attempts",
  retryAfterSeconds,
});

const secondFactorProblems: Readonly<Record<string, "wrong_code" | "start_again">> = {
  INVALID_CODE: "wrong_code",
  INVALID_BACKUP_CODE: "wrong_code",
  INVALID_TWO_FACTOR_COOKIE: "start_again",
  TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE: "start_again",
  TOTP_NOT_ENABLED: "start_again",
  BACKUP_CODES_NOT_ENABLED: "start_again",
};

/** How long better-auth locks a second factor after too many wrong codes. */
const lockSeconds = 900;

async function credentialResult(response: Response): Promise<CredentialResult> {
  const { headers } = response;
  const body: unknown = await response.json().catch(() => null);
  if (response.ok) {
    const needsSecondFactor = typeof body === "object" && body !== null && "twoFactorRedirect" in body;
    return { ok: true, headers, needsSecondFactor };
  }
  const code = codeOf(body);
  if (code === "ACCOUNT_TEMPORARILY_LOCKED") return tooManyAttempts(lockSeconds);
  if (response.status === 429) return tooManyAttempts(Number(headers.get("x-retry-after")) || 60);
  if (code.startsWith("USER_ALREADY_EXISTS")) return { ok: false, problem: "already_exists" };
  const secondFactor = secondFactorProblems[code];
  if (secondFactor) return { ok: false, problem: secondFactor, headers };
  if (response.status === 401) return { ok: false, problem: "wrong_credentials" };
  return { ok: false, problem: response.status >= 500 ? "unavailable" : "invalid" };
}
