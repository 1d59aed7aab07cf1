import type { Mail } from "@towpath/core/ports";
import { deriveKey, openWithKeyId, type RootSecrets } from "@towpath/crypto";
import type { Database } from "@towpath/db";
import { mailMessage } from "@towpath/db/schema";
import { and, eq } from "drizzle-orm";
import { MailRefused, type MailTransport } from "./mail-transport.ts";
import { renderMail } from "./render-mail.ts";

/** A message that waited longer is given up: nobody expects it any more. */
const giveUpAfterMs = 6 * 3_600_000;

type DeliverySettings = {
  readonly db: Database;
  /** Secrets that messages may be sealed with. */
  readonly secrets: RootSecrets;
  /** Null without a mail server: then queued messages fail. */
  readonly transport: MailTransport | null;
  readonly now?: () => Date;
};

/**
 * Sends a message of the queue and erases its content. Idempotent, except that a message may be sent twice when the
 * process ends between the mail server's answer and the write. Never rejects for a message that was refused for good.
 *
 * @throws any other failure, so that the queue retries: the mail server is unreachable, or answers "later"
 */
export async function deliverMail(settings: DeliverySettings, mailId: string): Promise<"sent" | "failed" | "settled"> {
  const { db, transport, now = () => new Date() } = settings;
  const settle = async (status: "sent" | "failed", problem: string | null) => {
    await db
      .update(mailMessage)
      .set({ status, problem, sealed: null, settledAt: now() })
      .where(and(eq(mailMessage.id, mailId), eq(mailMessage.status, "queued")));
    return status;
  };
  const [row] = await db
    .select()
    .from(mailMessage)
    .where(and(eq(mailMessage.id, mailId), eq(mailMessage.status, "queued")));
  if (!row?.sealed) return "settled";
  if (!transport) return settle("failed", "The worker has no mail server (TOWPATH_SMTP_URL).");
  const mail = opened(settings.secrets, row.sealed, mailId);
  if (!mail) return settle("failed", "TOWPATH_SECRET was replaced before it was sent.");
  try {
    await transport.send({ id: mailId, to: mail.to, ...renderMail(mail) });
  } catch (error) {
    if (error instanceof MailRefused) return settle("failed", error.message);
    if (now().getTime() - row.createdAt.getTime() < giveUpAfterMs) throw error;
    return settle("failed", "The mail server could not be reached in time.");
  }
  return settle("sent", null);
}

function opened({ current, previous }: RootSecrets, sealed: string, mailId: string): Mail | null {
  for (const secret of [current, ...previous]) {
    const key = deriveKey(secret, "mail");
    if (sealed.startsWith(`${key.id}.`)) return JSON.parse(openWithKeyId(key, sealed, mailId));
  }
  return null;
}
