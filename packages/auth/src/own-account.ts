import type { Database } from "@towpath/db";
import { account } from "@towpath/db/schema";
import { and, eq, isNotNull } from "drizzle-orm";
import { z } from "zod";
import { cancelEmailChange } from "./email-change.ts";
import { beginAttempt } from "./sign-in-throttle.ts";
import { recoveryCodeCount } from "./two-factor.ts";

/** Why a change of one's own account was refused. */
export type AccountProblem =
  | { readonly problem: "wrong_password" | "wrong_code" | "already_on" | "not_on" | "no_password" | "unavailable" }
  | { readonly problem: "too_many_attempts"; readonly retryAfterSeconds: number };

type Refused = { readonly ok: false } & AccountProblem;

/** `headers` contains the `Set-Cookie` of the session that replaces the current one. */
export type AccountResult<Value = object> = ({ readonly ok: true; readonly headers: Headers } & Value) | Refused;

/** The caller, and the headers of the request, with the session's cookie and the client's address. */
type AccountCall = {
  readonly userId: string;
  readonly email: string;
  readonly address: string | null;
  readonly headers: Headers;
};

export type SecondFactorState = { readonly isOn: boolean; readonly recoveryCodesLeft: number };

/** Changes of one's own account at the embedded provider. Each requires the password again. */
export type OwnAccount = {
  /** Whether the account has a password here; otherwise the issuer is responsible for its sign-in. */
  hasPassword(userId: string): Promise<boolean>;
  secondFactor(userId: string): Promise<SecondFactorState>;
  /** Only checks it, before a change that isn't made here. */
  checkPassword(call: AccountCall, input: { password: string }): Promise<AccountResult>;
  /** Ends all other sessions, and a pending change of the email address: whoever requested it knew the old password. */
  changePassword(call: AccountCall, input: { current: string; next: string }): Promise<AccountResult>;
  /** A new secret for an authenticator app, as an `otpauth:` URI, with new recovery codes. Not active yet. */
  beginSecondFactor(
    call: AccountCall,
    input: { password: string },
  ): Promise<AccountResult<{ readonly uri: string; readonly recoveryCodes: readonly string[] }>>;
  /** Activates it, with a code that the app shows. */
  confirmSecondFactor(call: AccountCall, input: { code: string }): Promise<AccountResult>;
  endSecondFactor(call: AccountCall, input: { password: string }): Promise<AccountResult>;
  /** Replaces all recovery codes. */
  newRecoveryCodes(
    call: AccountCall,
    input: { password: string },
  ): Promise<AccountResult<{ readonly recoveryCodes: readonly string[] }>>;
};

/** Calls an endpoint of better-auth like a request from outside, with its rate limits. */
export type Post = (path: string, body: unknown, headers: Headers) => Promise<Response>;

const enabledSchema = z.object({ totpURI: z.string(), backupCodes: z.array(z.string()) });
const codesSchema = z.object({ backupCodes: z.array(z.string()).length(recoveryCodeCount) });

export function createOwnAccount(
  db: Database,
  post: Post,
  readCodes: (userId: string) => Promise<readonly string[] | null>,
  isPassword: (password: string, headers: Headers) => Promise<boolean>,
): OwnAccount {
  /** Counts a wrong password like one at sign-in: a stolen session must not help to guess it. */
  const withPassword = async (call: AccountCall, path: string, body: object): Promise<AccountResult<Answer>> => {
    const attempt = await beginAttempt(db, call);
    if (typeof attempt === "number") return { ok: false, problem: "too_many_attempts", retryAfterSeconds: attempt };
    const result = await send(post, call, path, body);
    if (result.ok) await attempt.succeeded();
    else if (result.problem !== "wrong_password") await attempt.withdrawn();
    return result;
  };
  return {
    async hasPassword(userId) {
      const own = and(eq(account.userId, userId), eq(account.providerId, "credential"), isNotNull(account.password));
      return (await db.$count(account, own)) > 0;
    },
    async secondFactor(userId) {
      const codes = await readCodes(userId);
      return { isOn: codes !== null, recoveryCodesLeft: codes?.length ?? 0 };
    },
    async checkPassword(call, { password }) {
      const attempt = await beginAttempt(db, call);
      if (typeof attempt === "number") return { ok: false, problem: "too_many_attempts", retryAfterSeconds: attempt };
      if (!(await isPassword(password, call.headers))) return { ok: false, problem: "wrong_password" };
      await attempt.succeeded();
      return { ok: true, headers: new Headers() };
    },
    async changePassword(call, { current, next }) {
      const body = { currentPassword: current, newPassword: next, revokeOtherSessions: true };
      const result = await withPassword(call, "/change-password", body);
      if (result.ok) await cancelEmailChange(db, call.userId);
      return result;
    },
    async beginSecondFactor(call, input) {
      const result = await withPassword(call, "/two-factor/enable", input);
      if (!result.ok) return result;
      const { totpURI: uri, backupCodes: recoveryCodes } = enabledSchema.parse(result.body);
      return { ok: true, headers: result.headers, uri, recoveryCodes };
    },
    confirmSecondFactor: (call, input) => send(post, call, "/two-factor/verify-totp", input),
    endSecondFactor: (call, input) => withPassword(call, "/two-factor/disable", input),
    async newRecoveryCodes(call, input) {
      const result = await withPassword(call, "/two-factor/generate-backup-codes", input);
      if (!result.ok) return result;
      return { ok: true, headers: result.headers, recoveryCodes: codesSchema.parse(result.body).backupCodes };
    },
  };
}

type Answer = { readonly body: unknown };

const problems: Readonly<Record<string, Exclude<AccountProblem["problem"], "too_many_attempts">>> = {
  INVALID_PASSWORD: "wrong_password",
  INVALID_CODE: "wrong_code",
  TOTP_ALREADY_ENABLED: "already_on",
  TOTP_NOT_ENABLED: "not_on",
  TWO_FACTOR_NOT_ENABLED: "not_on",
  CREDENTIAL_ACCOUNT_NOT_FOUND: "no_password",
};

async function send(post: Post, call: AccountCall, path: string, input: object): Promise<AccountResult<Answer>> {
  const response = await post(path, input, call.headers);
  const body: unknown = await response.json().catch(() => null);
  if (response.ok) return { ok: true, headers: response.headers, body };
  if (response.status === 429) {
    const retryAfterSeconds = Number(response.headers.get("x-retry-after")) || 60;
    return { ok: false, problem: "too_many_attempts", retryAfterSeconds };
  }
  return { ok: false, problem: problems[codeOf(body)] ?? "unavailable" };
}

/** The code of an error of better-auth. */
export function codeOf(body: unknown): string {
  return typeof body === "object" && body !== null && "code" in body ? String(body.code) : "";
}
