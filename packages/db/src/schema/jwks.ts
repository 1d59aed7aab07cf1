import { index, pgTable, text, uuid } from "drizzle-orm/pg-core";
import { instant } from "./columns.ts";
import { daysAfter } from "./retention-rule.ts";

/** Keys that sign our tokens (ES256): see `signing-keys.ts` of `@towpath/auth`. */
export const jwks = pgTable(
  "jwks",
  {
    /** The key id, `kid` in tokens and in the published set. */
    id: uuid().primaryKey(),
    /** A JWK (RFC 7517) as JSON, without `kid`. */
    publicKey: text().notNull(),
    /** The private JWK as JSON, sealed for the key id. */
    privateKey: text().notNull(),
    createdAt: instant().notNull().defaultNow(),
    /** From then on it is neither published nor accepted. It stopped signing long enough before for its tokens to end. */
    expiresAt: instant().notNull(),
  },
  (table) => [index().on(table.expiresAt)],
);

export const jwksRetention = daysAfter(1, jwks.expiresAt);
