import { index, pgTable, text, uuid } from "drizzle-orm/pg-core";
import { instant } from "./columns.ts";
import { daysAfter } from "./retention-rule.ts";

/** Email messages of the instance: those that wait to be sent, and for some days their results. */
export const mailMessage = pgTable(
  "mail_message",
  {
    id: uuid().primaryKey(),
    /** For what it is sent, such as `invitation`. */
    purpose: text().notNull(),
    /** `user:<id>` who has us write to somebody else; null for what people ask for themselves. */
    sender: text(),
    /** A hash of the address, by which messages to one mailbox are limited. */
    recipient: text().notNull(),
    /** The message, encrypted, because it contains links that let people in; null once it was sent or has failed. */
    sealed: text(),
    /** queued | sent | failed */
    status: text().notNull(),
    /** The mail server's reason for a failure. */
    problem: text(),
    createdAt: instant().notNull(),
    settledAt: instant(),
  },
  (table) => [
    index().on(table.recipient, table.createdAt),
    index().on(table.sender, table.createdAt),
    index().on(table.createdAt),
  ],
);

/** As long as the invitation that it may belong to can be seen. */
export const mailMessageRetention = daysAfter(37, mailMessage.createdAt);
