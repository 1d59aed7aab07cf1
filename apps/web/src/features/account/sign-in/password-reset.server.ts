import { clientAddressHeader, limitRequests } from "@towpath/auth";
import type { Context } from "@towpath/core/context";
import { TowpathError } from "@towpath/core/errors";
import { parseInput } from "@towpath/core/input";
import { recordAccountChange } from "@towpath/core/tenancy/account";
import { services } from "~/compose.server.ts";
import { isSameOrigin } from "~/http/request.server.ts";
import { type RefusedForm, resetRequestSchema, resetSchema } from "./credentials.schema.ts";
import { readForm } from "./sign-in.server.ts";

/** A page to show: again with problems, or that the work is done. */
type Answer = Response | { readonly refused: RefusedForm | null; readonly isDone: boolean };

const perMinute = { address: 10, account: 3 };

/**
 * Sends a link that sets a new password, if there is an account with this address. Neither the answer nor its timing
 * reveals whether there is one: the work continues after it.
 */
export async function requestPasswordReset(request: Request): Promise<Answer> {
  const { database, config, log } = services();
  return withForm(request, async (typed) => {
    if (!config.sendsMail) throw new TowpathError("not_configured", "This instance sends no email.");
    const { email } = parseInput(resetRequestSchema, typed);
    const address = request.headers.get(clientAddressHeader) ?? "";
    const waits = await Promise.all([
      limitRequests(database.db, { key: `password-reset address ${address}`, max: perMinute.address }),
      limitRequests(database.db, { key: `password-reset ${email.toLowerCase()}`, max: perMinute.account }),
    ]);
    if (Math.max(...waits) > 0) throw new TowpathError("limit_reached", "Too many tries. Wait a minute and try again.");
    void sendLink(email, address).catch((error: unknown) => log.warn({ err: error }, "no password reset was sent"));
  });
}

async function sendLink(email: string, ipAddress: string): Promise<void> {
  const { auth, contextFor } = services();
  const made = await auth.passwordReset.create(email);
  if (!made) return;
  const ctx = contextFor({ kind: "user", userId: made.userId, ipAddress });
  await ctx.mail?.send({
    purpose: "password-reset",
    to: made.email,
    sender: null,
    subject: "Set a new password for Towpath",
    paragraphs: [
      `Someone asked for a new password for your account at ${services().config.baseUrl}.`,
      "The link works once, for an hour.",
    ],
    action: { label: "Set a new password", url: resetUrl(made.token) },
    footnote: "If that wasn't you, ignore this message. Your password stays as it is.",
  });
  await recordAccountChange({ ctx, input: { userId: made.userId, action: "account.reset_requested" } });
}

/** Where a link's token is used. */
const resetUrl = (token: string) => `${services().config.baseUrl}/provider/reset-password?token=${token}`;

/** Sets the password with the link's token. */
export async function submitNewPassword(request: Request): Promise<Answer> {
  const { auth, contextFor } = services();
  const token = new URL(request.url).searchParams.get("token") ?? "";
  return withForm(request, async (typed) => {
    const { password } = parseInput(resetSchema, typed);
    const used = await auth.passwordReset.use(token, password);
    // The page then shows that the link doesn't work.
    if (!used) throw new TowpathError("not_found", "This link doesn't work.");
    const ctx = contextFor({ kind: "user", userId: used.userId, ipAddress: request.headers.get(clientAddressHeader) });
    await recordAccountChange({ ctx, input: { userId: used.userId, action: "account.password_reset" } });
  });
}

/** Whether this instance can send links; otherwise its operator makes them. */
export const sendsMail = (): boolean => services().config.sendsMail;

/** The account that a link is for; null when it doesn't work. */
export const resetAccount = (token: string | undefined): Promise<string | null> =>
  token ? services().auth.passwordReset.check(token) : Promise.resolve(null);

/**
 * For operators (AUTH-2): a link for the account with this address; optionally turns its second factor off.
 *
 * @throws TowpathError `not_found`, `not_configured` with an issuer
 */
export async function createResetLink(
  ctx: Context,
  input: { readonly email: string; readonly removeSecondFactor: boolean },
): Promise<{ readonly url: string; readonly expiresAt: string; readonly removedSecondFactor: boolean }> {
  const { auth } = services();
  if (!auth.embedded) {
    const message = "People sign in at the OpenID Connect provider of this instance. Reset the password there.";
    throw new TowpathError("not_configured", message);
  }
  const made = await auth.passwordReset.create(input.email);
  if (!made) throw new TowpathError("not_found", `There is no account with the address ${input.email}.`);
  const { userId } = made;
  await recordAccountChange({ ctx, input: { userId, action: "account.reset_requested" } });
  const removedSecondFactor = input.removeSecondFactor && (await auth.passwordReset.removeSecondFactor(userId));
  if (removedSecondFactor) await recordAccountChange({ ctx, input: { userId, action: "account.two_factor_off" } });
  return { url: resetUrl(made.token), expiresAt: made.expiresAt.toISOString(), removedSecondFactor };
}

async function withForm(
  request: Request,
  work: (typed: Readonly<Record<string, string>>) => Promise<void>,
): Promise<Answer> {
  const { auth, config } = services();
  if (!auth.embedded || !isSameOrigin(request, config.baseUrl)) return new Response("Forbidden", { status: 403 });
  const typed = await readForm(request);
  if (!typed) return new Response("Payload Too Large", { status: 413 });
  const { password: _password, ...values } = typed;
  try {
    await work(typed);
    return { refused: null, isDone: true };
  } catch (error) {
    if (!(error instanceof TowpathError)) throw error;
    const isField = Object.keys(error.fields).length > 0;
    return { refused: { values, fields: error.fields, message: isField ? null : error.message }, isDone: false };
  }
}
