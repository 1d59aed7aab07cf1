import { type AccountProblem, type AccountResult, clientAddressHeader, type SignedIn } from "@towpath/auth";
import type { Context } from "@towpath/core/context";
import { notFound, TowpathError } from "@towpath/core/errors";
import { recordAccountChange } from "@towpath/core/tenancy/account";
import { encode } from "uqr";
import { services } from "~/compose.server.ts";
import { passCookies } from "~/features/shared/session/session.server.ts";

/** Of the signed-in user, as the middleware `selfAccess` sets it. */
export type Self = { readonly signedIn: SignedIn; readonly ctx: Context };

type Action = Parameters<typeof recordAccountChange>[0]["input"]["action"];

const record = ({ signedIn, ctx }: Self, action: Action) =>
  recordAccountChange({ ctx, input: { userId: signedIn.user.id, action } });

/**
 * `issuer`: the issuer's address, where people change how they sign in; null for accounts of this instance.
 * `pendingEmail`: the requested address, not confirmed yet.
 */
export async function signInMethods(userId: string) {
  const { auth, config } = services();
  const [hasPassword, twoFactor, pending] = await Promise.all([
    auth.embedded && auth.account.hasPassword(userId),
    auth.account.secondFactor(userId),
    auth.emailChange.pending(userId),
  ]);
  const pendingEmail = pending && { email: pending.email, expiresAt: pending.expiresAt.toISOString() };
  const { oidc, sendsMail } = config;
  return { issuer: oidc?.issuer ?? null, hasPassword, twoFactor, sendsMail, pendingEmail };
}

/** @throws TowpathError `not_found` for somebody else's session */
export async function endOneSession(self: Self, sessionId: string): Promise<void> {
  if (!(await services().auth.sessions.end(self.signedIn.user.id, sessionId))) throw notFound("session");
  await record(self, "account.session_end");
}

export async function endOthers(self: Self): Promise<{ readonly ended: number }> {
  const { user, sessionId } = self.signedIn;
  const ended = await services().auth.sessions.endOthers({ userId: user.id, sessionId });
  if (ended > 0) await record(self, "account.session_end");
  return { ended };
}

export async function changePassword(
  self: Self,
  input: { readonly current: string; readonly next: string },
  headers: Headers,
): Promise<void> {
  accepted(await services().auth.account.changePassword(callOf(self, headers), input), "current");
  await record(self, "account.password_change");
}

/** `uri`: for apps; `secret`: to type where no camera is; `qr`: the path of an SVG of `size` × `size` squares. */
export async function beginTwoFactor(self: Self, input: { readonly password: string }, headers: Headers) {
  const result = accepted(await services().auth.account.beginSecondFactor(callOf(self, headers), input), "password");
  const { uri, recoveryCodes } = result;
  const { data, size } = encode(uri, { border: 2 });
  const qr = data.map((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : "")).join("")).join("");
  return { uri, secret: new URL(uri).searchParams.get("secret") ?? "", recoveryCodes, qr, size };
}

export async function confirmTwoFactor(self: Self, input: { readonly code: string }, headers: Headers): Promise<void> {
  accepted(await services().auth.account.confirmSecondFactor(callOf(self, headers), input), "code");
  await record(self, "account.two_factor_on");
}

export async function endTwoFactor(self: Self, input: { readonly password: string }, headers: Headers): Promise<void> {
  accepted(await services().auth.account.endSecondFactor(callOf(self, headers), input), "password");
  await record(self, "account.two_factor_off");
}

export async function renewRecoveryCodes(self: Self, input: { readonly password: string }, headers: Headers) {
  const result = accepted(await services().auth.account.newRecoveryCodes(callOf(self, headers), input), "password");
  await record(self, "account.recovery_codes");
  return { recoveryCodes: result.recoveryCodes };
}

export const callOf = ({ signedIn }: Self, headers: Headers) => ({
  userId: signedIn.user.id,
  email: signedIn.user.email,
  address: headers.get(clientAddressHeader),
  headers,
});

const texts: Record<Exclude<AccountProblem["problem"], "too_many_attempts">, string> = {
  wrong_password: "Wrong password. Try again.",
  wrong_code: "This code is wrong or already used. Enter the one your app shows now.",
  already_on: "Two-factor sign-in is already on. Turn it off first.",
  not_on: "Two-factor sign-in is not on. Reload this page.",
  no_password: "Your account has no password on this instance.",
  unavailable: "The change failed. Try again.",
};

/**
 * Sets the cookies of the session that replaces the current one.
 *
 * @throws TowpathError `invalid_input` with a text for the field that was wrong, `limit_reached`, `conflict`
 */
export function accepted<Value>(result: AccountResult<Value>, field: string): Extract<typeof result, { ok: true }> {
  if (result.ok) {
    passCookies(result.headers);
    return result as Extract<typeof result, { ok: true }>;
  }
  if (result.problem === "too_many_attempts") {
    const seconds = result.retryAfterSeconds;
    const wait =
      seconds <= 90 ? `${seconds} ${seconds === 1 ? "second" : "seconds"}` : `${Math.ceil(seconds / 60)} minutes`;
    throw new TowpathError("limit_reached", `Too many attempts. Try again in ${wait}.`);
  }
  const message = texts[result.problem];
  const isField = result.problem === "wrong_password" || result.problem === "wrong_code";
  throw new TowpathError(
    isField ? "invalid_input" : "conflict",
    message,
    isField ? { fields: { [field]: message } } : {},
  );
}
