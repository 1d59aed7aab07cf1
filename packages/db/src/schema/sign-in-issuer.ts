import { boolean, index, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { instant, ownedBy } from "./columns.ts";
import { organization } from "./organization.ts";
import type { RetentionRule } from "./retention-rule.ts";
import { user } from "./user.ts";

/** Identity providers whose identity assertions (ID-JAG) an organization takes in place of a sign-in by its members (CAP-3). */
export const signInIssuer = pgTable(
  "sign_in_issuer",
  {
    id: uuid().primaryKey(),
    organizationId: ownedBy(() => organization.id),
    name: text().notNull(),
    /** `iss` of its assertions. Its keys are where its metadata says. */
    issuer: text().notNull(),
    /** Whether an assertion whose subject has never signed in here is for the member with its verified email address. */
    matchesEmail: boolean().notNull().default(false),
    /** When an assertion was last exchanged, to the minute. */
    lastUsedAt: instant(),
    /** Why its keys could not be read at the last attempt; null: they could. */
    problem: text(),
    createdByUserId: uuid().references(() => user.id, { onDelete: "set null" }),
    createdAt: instant().notNull().defaultNow(),
  },
  (table) => [uniqueIndex().on(table.organizationId, table.issuer), index().on(table.createdByUserId)],
);

export const signInIssuerRetention: RetentionRule = { until: "owner" };
