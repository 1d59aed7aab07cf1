import { boolean, index, pgTable, text, uuid } from "drizzle-orm/pg-core";
import { instant, ownedBy } from "./columns.ts";
import { organization } from "./organization.ts";
import type { RetentionRule } from "./retention-rule.ts";
import { user } from "./user.ts";

/**
 * Workloads that call an organization's servers with tokens of an issuer that it trusts, such as a cluster's service
 * accounts (KEY-6). Gateways hear of changes by `towpath_workload_identity` (a trigger, see migrations).
 */
export const workloadIdentity = pgTable(
  "workload_identity",
  {
    id: uuid().primaryKey(),
    organizationId: ownedBy(() => organization.id),
    name: text().notNull(),
    /** `iss` of its tokens. */
    issuer: text().notNull(),
    /** Where the issuer's keys are; null: where its discovery document says, unless they are in `keySet`. */
    jwksUrl: text(),
    /** The keys themselves, a JWK set as JSON, for an issuer that can't be asked. */
    keySet: text(),
    /** Certificates (PEM) of the authorities that the issuer's host is trusted by; null: the public ones. */
    ca: text(),
    /** Patterns of `sub`; `*` stands for characters other than a colon. */
    subjects: text().array().notNull(),
    /** The projects whose servers they may call; null: all of the organization, future ones included. */
    projectIds: uuid().array(),
    /** False: revoked. */
    enabled: boolean().notNull().default(true),
    /** When a gateway last accepted a token, to the minute. */
    lastUsedAt: instant(),
    /** Why a gateway could not read the issuer's keys at the last attempt; null: it could, or has not tried. */
    problem: text(),
    createdByUserId: uuid().references(() => user.id, { onDelete: "set null" }),
    createdAt: instant().notNull().defaultNow(),
    updatedAt: instant().notNull().defaultNow(),
  },
  (table) => [index().on(table.organizationId, table.issuer), index().on(table.createdByUserId)],
);

/** Includes revoked ones, as with API keys. */
export const workloadIdentityRetention: RetentionRule = { until: "owner" };
