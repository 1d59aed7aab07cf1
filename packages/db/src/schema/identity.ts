import { bigint, boolean, index, integer, pgTable, text, timestamp, uniqueIndex, uuid } from "drizzle-orm/pg-core";

// The tables of this file belong to better-auth: it writes them, the shapes follow its core schema and the
// organization and api-key plugins. Towpath adds the columns marked "ours" and reads the rest.

const instant = () => timestamp({ withTimezone: true, precision: 3 });

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
  /** ours: the numeric account id at GitHub (or the forge), set once the user has authorized the App. */
  githubUserId: bigint({ mode: "number" }),
});

export const session = pgTable(
  "session",
  {
    id: uuid().primaryKey(),
    userId: uuid()
      .notNull()
      .references(() => user.id, { onDelete: "cascade" }),
    token: text().notNull().unique(),
    expiresAt: instant().notNull(),
    ipAddress: text(),
    userAgent: text(),
    activeOrganizationId: uuid(),
    createdAt: instant().notNull().defaultNow(),
    updatedAt: instant().notNull().defaultNow(),
  },
  (table) => [index().on(table.userId)],
);

export const account = pgTable(
  "account",
  {
    id: uuid().primaryKey(),
    userId: uuid()
      .notNull()
      .references(() => user.id, { onDelete: "cascade" }),
    /** The provider: `credential` for the embedded one, else a name derived from the OpenID issuer. */
    providerId: text().notNull(),
    /** The subject at that provider. Identity is (provider, subject), never an e-mail address (AUTH-11). */
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
  (table) => [index().on(table.identifier)],
);

/** Requests to the sign-in endpoints by address and path, so that better-auth's limit survives a restart. */
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
    /** Until then attempts are refused without checking the password. */
    retryAt: instant().notNull(),
    updatedAt: instant().notNull(),
  },
  (table) => [index().on(table.updatedAt)],
);

export const organization = pgTable("organization", {
  id: uuid().primaryKey(),
  name: text().notNull(),
  slug: text().notNull().unique(),
  logo: text(),
  metadata: text(),
  createdAt: instant().notNull().defaultNow(),
});

export const member = pgTable(
  "member",
  {
    id: uuid().primaryKey(),
    organizationId: uuid()
      .notNull()
      .references(() => organization.id, { onDelete: "cascade" }),
    userId: uuid()
      .notNull()
      .references(() => user.id, { onDelete: "cascade" }),
    /** owner | admin | member | viewer */
    role: text().notNull(),
    createdAt: instant().notNull().defaultNow(),
  },
  (table) => [uniqueIndex().on(table.organizationId, table.userId), index().on(table.userId)],
);

export const invitation = pgTable(
  "invitation",
  {
    id: uuid().primaryKey(),
    organizationId: uuid()
      .notNull()
      .references(() => organization.id, { onDelete: "cascade" }),
    email: text().notNull(),
    role: text(),
    status: text().notNull(),
    inviterId: uuid()
      .notNull()
      .references(() => user.id, { onDelete: "cascade" }),
    expiresAt: instant().notNull(),
    createdAt: instant().notNull().defaultNow(),
  },
  (table) => [index().on(table.organizationId), index().on(table.email), index().on(table.inviterId)],
);

export const apikey = pgTable(
  "apikey",
  {
    id: uuid().primaryKey(),
    configId: text().notNull().default("default"),
    name: text(),
    /** The first characters of the key, for people to tell keys apart. */
    start: text(),
    prefix: text(),
    /** SHA-256 of the key, base64url without padding. The key itself is shown once and never stored. */
    key: text().notNull(),
    /** The organization that owns the key. */
    referenceId: uuid().notNull(),
    refillInterval: integer(),
    refillAmount: integer(),
    lastRefillAt: instant(),
    enabled: boolean().default(true),
    rateLimitEnabled: boolean().default(false),
    rateLimitTimeWindow: integer(),
    rateLimitMax: integer(),
    requestCount: integer().default(0),
    remaining: integer(),
    lastRequest: instant(),
    expiresAt: instant(),
    permissions: text(),
    metadata: text(),
    createdAt: instant().notNull().defaultNow(),
    updatedAt: instant().notNull().defaultNow(),
  },
  (table) => [uniqueIndex().on(table.key), index().on(table.referenceId), index().on(table.configId)],
);
