import type { Context } from "@towpath/core/context";
import { TowpathError } from "@towpath/core/errors";
import type { MailSender } from "@towpath/core/ports";
import { recordAccountChange } from "@towpath/core/tenancy/account";
import { services } from "~/compose.server.ts";
import { accepted, callOf, type Self } from "./own-account.server.ts";

const takenText = "Another account has this address.";

/**
 * Requests another email address (ORG-7). With a mail server, the new mailbox gets a link and the old one a notice;
 * without one, the address changes at once.
 *
 * @throws TowpathError `invalid_input` by field, `limit_reached`, `not_configured` where the issuer has the address
 */
export async function requestEmailChange(
  self: Self & { readonly ctx: Context<"mail"> },
  input: { readonly email: string; readonly password: string },
  headers: Headers,
): Promise<{ readonly isChanged: boolean }> {
  const { auth, config } = services();
  const { user, sessionId } = self.signedIn;
  if (!auth.embedded) throw issuerHasAddress(config.oidc?.issuer);
  // The password first: a stolen session must not reveal who has an account.
  accepted(await auth.account.checkPassword(callOf(self, headers), input), "password");
  if (input.email === user.email) throw refused("This is already your address.");
  if (await auth.emailChange.isTaken(input.email)) throw refused(takenText);
  const { mail } = self.ctx;
  if (!config.sendsMail || !mail) {
    const changed = await auth.emailChange.change({ userId: user.id, sessionId }, input.email);
    await recordChanged(self, changed);
    return { isChanged: true };
  }
  await auth.emailChange.begin(user.id, input.email, async (token, tx) => {
    for (const message of messages(user, input.email, token)) await mail.send(message, tx);
  });
  await record(self, "account.email_requested", { to: input.email });
  return { isChanged: false };
}

/** The address that such a link sets; null for a link that doesn't work in this account. */
export async function linkedEmail({ signedIn }: Self, token: string) {
  return { from: signedIn.user.email, to: await services().auth.emailChange.check(signedIn.user.id, token) };
}

/** @throws TowpathError `not_found` for a link that doesn't work, `conflict` for an address that is taken meanwhile */
export async function confirmEmailChange(self: Self, token: string): Promise<{ readonly email: string }> {
  const { user, sessionId } = self.signedIn;
  const changed = await services().auth.emailChange.confirm({ userId: user.id, sessionId }, token);
  return { email: await recordChanged(self, changed) };
}

/** Ends a change that waits for its link. */
export async function cancelEmailChange(self: Self): Promise<void> {
  const wasPending = await services().auth.emailChange.cancel(self.signedIn.user.id);
  if (wasPending) await record(self, "account.email_canceled");
}

type Changed = Awaited<ReturnType<ReturnType<typeof services>["auth"]["emailChange"]["confirm"]>>;

async function recordChanged(self: Self, changed: Changed): Promise<string> {
  if (changed === "taken") throw new TowpathError("conflict", takenText);
  if (changed === "no_such_link") throw new TowpathError("not_found", "This link doesn't work.");
  await record(self, "account.email_change", changed);
  return changed.to;
}

function messages(
  user: { readonly id: string; readonly email: string },
  to: string,
  token: string,
): readonly Parameters<MailSender["send"]>[0][] {
  const { baseUrl } = services().config;
  return [
    {
      purpose: "email-change",
      to,
      sender: `user:${user.id}`,
      subject: "Confirm your email address for Towpath",
      paragraphs: [
        `Someone wants to use this address for their account at ${baseUrl}.`,
        "If that's you, open the link where you're signed in. It works once, for an hour.",
      ],
      action: { label: "Confirm address", url: `${baseUrl}/account/email?token=${token}` },
      footnote: "If that's not you, ignore this message. Nothing will change.",
    },
    {
      purpose: "email-change",
      to: user.email,
      sender: null,
      subject: "Your email address for Towpath is about to change",
      paragraphs: [
        `Someone who knows your password asked to change the address of your account at ${baseUrl} to ${to}.`,
        "It changes when someone opens the link we sent to the new address.",
      ],
      action: { label: "Open your account", url: `${baseUrl}/account` },
      footnote: "If that wasn't you, change your password now. That cancels the change.",
    },
  ];
}

const record = (
  { signedIn, ctx }: Self,
  action: "account.email_requested" | "account.email_change" | "account.email_canceled",
  detail?: Readonly<Record<string, string>>,
) => recordAccountChange({ ctx, input: { userId: signedIn.user.id, action, ...(detail && { detail }) } });

const refused = (message: string) => new TowpathError("invalid_input", message, { fields: { email: message } });

const issuerHasAddress = (issuer: string | undefined) =>
  new TowpathError(
    "not_configured",
    `Your address comes from ${issuer ? new URL(issuer).host : "your sign-in provider"}. Change it there.`,
  );
