import { TowpathError } from "@towpath/core/errors";
import { newId } from "@towpath/core/ids";
import type { JobQueue, Mail, MailSender } from "@towpath/core/ports";
import { deriveKey, sealWithKeyId, sha256 } from "@towpath/crypto";
import type { Database, Transaction } from "@towpath/db";
import { mailMessage } from "@towpath/db/schema";
import { and, eq, gt, isNotNull, ne, type SQL, sql } from "drizzle-orm";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/**
 * Maximum numbers of messages, so that nobody floods a mailbox or uses us to write to strangers. The sender is the
 * person who causes a message to somebody else; messages that people request for themselves have none.
 */
export const mailLimits = { recipientPerHour: 5, recipientPerDay: 20, senderPerDay: 100, sendersPerHour: 300 } as const;
/** Of alerts. They don't count for the other messages: a server that fails must not keep people from a new password. */
export const alertLimits = { recipientPerHour: 15, recipientPerDay: 60 } as const;

type Settings = {
  readonly db: Database;
  readonly queue: JobQueue;
  /** The instance's root secret: messages wait sealed, because they contain links that let people in. */
  readonly secret: string;
  readonly now?: () => Date;
};

/** Puts messages into the queue, from where a worker sends them (see `deliverMail`). */
export function createMailSender({ db, queue, secret, now = () => new Date() }: Settings): MailSender {
  const key = deriveKey(secret, "mail");
  const put = async (tx: Transaction, mail: Mail) => {
    const [id, createdAt] = [newId(), now()];
    const recipient = recipientKey(mail.to);
    // One request at a time, until the transaction ends: concurrent ones could exceed the limits together.
    await tx.execute(sql`SELECT pg_advisory_xact_lock(hashtext('towpath_mail'))`);
    await requireWithinLimits(tx, { recipient, mail, now: createdAt });
    const sealed = sealWithKeyId(key, JSON.stringify(mail), id);
    const { purpose, sender } = mail;
    await tx.insert(mailMessage).values({ id, purpose, sender, recipient, sealed, status: "queued", createdAt });
    await queue.enqueue("mail.send", { mailId: id }, { key: id, transaction: tx });
    return { id };
  };
  return {
    send: (mail, transaction) => (transaction ? put(transaction, mail) : db.transaction((tx) => put(tx, mail))),
  };
}

/** Key that counts messages to one mailbox. The address itself is only in the sealed message. */
const recipientKey = (address: string): string => sha256(address.trim().toLowerCase());

/** @throws TowpathError `limit_reached` */
async function requireWithinLimits(
  tx: Transaction,
  { recipient, mail, now }: { readonly recipient: string; readonly mail: Mail; readonly now: Date },
): Promise<void> {
  const { sender, purpose } = mail;
  const isAlert = purpose === "alert";
  const limits = isAlert ? alertLimits : mailLimits;
  const sent = (sinceMs: number, condition: SQL | undefined) =>
    tx.$count(mailMessage, and(condition, gt(mailMessage.createdAt, new Date(now.getTime() - sinceMs))));
  const same = isAlert ? eq(mailMessage.purpose, "alert") : ne(mailMessage.purpose, "alert");
  const to = and(eq(mailMessage.recipient, recipient), same);
  if ((await sent(hourMs, to)) >= limits.recipientPerHour) throw tooMuchMail("to this address", "an hour");
  if ((await sent(dayMs, to)) >= limits.recipientPerDay) throw tooMuchMail("to this address", "a day");
  if (sender === null) return;
  if ((await sent(dayMs, eq(mailMessage.sender, sender))) >= mailLimits.senderPerDay)
    throw tooMuchMail("for you", "a day");
  if ((await sent(hourMs, isNotNull(mailMessage.sender))) >= mailLimits.sendersPerHour)
    throw tooMuchMail("for all its users", "an hour");
}

const tooMuchMail = (what: string, wait: string) =>
  new TowpathError("limit_reached", `Towpath has sent too many emails ${what}. Try again in ${wait}.`);
