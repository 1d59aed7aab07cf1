import { sql } from "drizzle-orm";
import { bigint, boolean, index, integer, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { instant, ownedBy } from "./columns.ts";
import { daysAfter, daysBefore, type RetentionRule } from "./retention-rule.ts";

// better-auth writes these tables and defines their columns. Columns marked "ours" are Towpath's.

export const user = pgTable("user", {
  id: uuid().primaryKey(),
  name: text().notNull(),
  email: text().notNull().unique(),
  emailVerified: boolean().notNull().default(false),
  image: text(),
  createdAt: instant().notNull().defaultNow(),
  updatedAt: instant().notNull().defaultNow(),
  /** ours */
  firstName: text(),
  /** ours */
  lastName: text(),
  /** ours: the numeric user id at GitHub, set when the user authorizes the App. */
  githubUserId: bigint({ mode: "number" }),
  /** Sign-in asks for a second factor. */
  twoFactorEnabled: boolean().notNull().default(false),
  /** ours: the IANA time zone in which times are shown; null is UTC. */
  timeZone: text(),
  /** ours: h12 | h23; null is h23. */
  hourCycle: text(),
  /** ours: hides the list of first steps of a new server (SRC-4). */
  hidesFirstSteps: boolean().notNull().default(false),
});

export const session = pgTable(
  "session",
  {
    id: uuid().primaryKey(),
    userId: ownedBy(() => user.id),
    token: text().notNull().unique(),
    expiresAt: instant().notNull(),
    ipAddress: text(),
    userAgent: text(),
    /** ours */
    activeOrganizationId: uuid(),
    /** ours: the `sid` of the ID token with which the session began, for back-channel logout. */
    issuerSessionId: text(),
    createdAt: instant().notNull().defaultNow(),
    /** ours: when its person was last active, give or take a minute. */
    updatedAt: instant().notNull().defaultNow(),
  },
  (table) => [index().on(table.userId), index().on(table.expiresAt)],
);

export const account = pgTable(
  "account",
  {
    id: uuid().primaryKey(),
    userId: ownedBy(() => user.id),
    /** `credential` for the embedded provider, else derived from the OpenID issuer. */
    providerId: text().notNull(),
    /** The subject at that provider. The identity is (provider, subject), never an email address (AUTH-11). */
    accountId: text().notNull(),
    accessToken: text(),
    refreshToken: text(),
    idToken: text(),
    accessTokenExpiresAt: instant(),
    refreshTokenExpiresAt: instant(),
    scope: text(),
    password: text(),
    createdAt: instant().notNull().defaultNow(),
    updatedAt: instant().notNull().defaultNow(),
  },
  (table) => [index().on(table.userId), uniqueIndex().on(table.providerId, table.accountId)],
);

/** A person's authenticator app. The secret and the recovery codes are encrypted with a key of the instance's secret. */
export const twoFactor = pgTable("two_factor", {
  id: uuid().primaryKey(),
  userId: uuid()
    .notNull()
    .unique()
    .references(() => user.id, { onDelete: "cascade" }),
  secret: text().notNull(),
  backupCodes: text().notNull(),
  /** False until the first code was right; sign-in asks for none before. */
  verified: boolean().notNull().default(false),
  /** Wrong codes in a row; at ten, none is accepted until `lockedUntil`. */
  failedVerificationCount: integer().notNull().default(0),
  lockedUntil: instant(),
});

export const verification = pgTable(
  "verification",
  {
    id: uuid().primaryKey(),
    identifier: text().notNull(),
    value: text().notNull(),
    expiresAt: instant().notNull(),
    createdAt: instant().notNull().defaultNow(),
    updatedAt: instant().notNull().defaultNow(),
  },
  (table) => [index().on(table.identifier), index().on(table.expiresAt)],
);

/** better-auth's rate limits by client address and path, which survive a restart. */
export const rateLimit = pgTable(
  "rate_limit",
  {
    id: uuid().primaryKey(),
    key: text().notNull().unique(),
    count: integer().notNull(),
    /** Milliseconds since 1970. */
    lastRequest: bigint({ mode: "number" }).notNull(),
  },
  (table) => [index().on(table.lastRequest)],
);

/** ours: failed sign-ins by account, and by account and address; see `sign-in-throttle.ts` of `@towpath/auth`. */
export const signInAttempt = pgTable(
  "sign_in_attempt",
  {
    /** A hash; the account need not exist. */
    key: text().primaryKey(),
    failures: integer().notNull(),
    /** Until then attempts are rejected without checking the password. */
    retryAt: instant().notNull(),
    updatedAt: instant().notNull(),
  },
  (table) => [index().on(table.updatedAt)],
);

export const userRetention: RetentionRule = { until: "deleted" };

/** Removed a day after they expired. */
export const sessionRetention = daysAfter(1, session.expiresAt);

export const accountRetention: RetentionRule = { until: "owner" };

export const twoFactorRetention: RetentionRule = { until: "owner" };

export const verificationRetention = daysAfter(1, verification.expiresAt);

/** A window is one minute. */
export const rateLimitRetention: RetentionRule = {
  until: "expired",
  condition: (moment) =>
    sql`${rateLimit.lastRequest} < extract(epoch FROM ${daysBefore(moment, 1)}::timestamptz) * 1000`,
};

/** As long as failures count. */
export const signInAttemptRetention = daysAfter(1, signInAttempt.updatedAt);
