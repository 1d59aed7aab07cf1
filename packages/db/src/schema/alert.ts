import { sql } from "drizzle-orm";
import {
  type AnyPgColumn,
  index,
  integer,
  jsonb,
  pgTable,
  smallint,
  text,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core";
import { instant, keyedBy, ownedBy } from "./columns.ts";
import { organization } from "./organization.ts";
import { project } from "./project.ts";
import { daysAfter, type RetentionRule } from "./retention-rule.ts";
import { user } from "./user.ts";

/** Where an organization's alerts are sent (CAP-6). */
export const alertChannel = pgTable(
  "alert_channel",
  {
    id: uuid().primaryKey(),
    organizationId: ownedBy(() => organization.id),
    name: text().notNull(),
    /** mail | standard | slack | discord | teams: how a message is sent, or how the body of a webhook is written. */
    format: text().notNull(),
    /** Members who get the mail; null for a webhook. */
    userIds: uuid().array(),
    /** The host of a webhook's address. The address itself may contain a credential: it is sealed. Null for mail. */
    host: text(),
    /** `WebhookSecrets` of core, sealed under a key of its own: packages/secrets. Both null for mail. */
    wraps: jsonb().$type<Readonly<Record<string, string>>>(),
    sealed: text(),
    /** The kinds of events that it gets: `AlertKind` of core. */
    events: text().array().notNull(),
    /** The projects whose events it gets; null: all of the organization, future ones included. */
    projectIds: uuid().array(),
    /** Minutes of the day in `timeZone` between which messages wait; null: none do. */
    quietFrom: smallint(),
    quietTo: smallint(),
    timeZone: text(),
    /** Why nothing is sent: `off` by a person, `gone` because the receiver answered 410; null: it is on. */
    disabledFor: text(),
    /** Failed attempts since the last success. */
    failures: integer().notNull().default(0),
    /** No attempt before then. */
    nextAttemptAt: instant().notNull().defaultNow(),
    /** Until then a worker is sending one of its messages; null: none is. */
    claimedUntil: instant(),
    createdByUserId: uuid().references(() => user.id, { onDelete: "set null" }),
    createdAt: instant().notNull().defaultNow(),
    updatedAt: instant().notNull().defaultNow(),
  },
  (table) => [index().on(table.organizationId), index().on(table.createdByUserId)],
);

export const alertChannelRetention: RetentionRule = { until: "owner" };

/** What happened that somebody may want to know. Written in the transaction of what happened, so that none is lost. */
export const alertEvent = pgTable(
  "alert_event",
  {
    id: uuid().primaryKey(),
    projectId: ownedBy(() => project.id),
    /** `AlertEvent["kind"]` of core. */
    kind: text().notNull(),
    /** What it is about, such as an error, and which time: a second event of the same key is left out. */
    groupKey: text().notNull(),
    /** `AlertEvent` of core. */
    detail: jsonb().notNull(),
    createdAt: instant().notNull(),
    /** When a worker wrote its messages to the channels; null: not yet. */
    expandedAt: instant(),
  },
  (table) => [
    uniqueIndex().on(table.projectId, table.groupKey),
    index().on(table.createdAt),
    index("alert_event_new_index").on(table.id).where(sql`${table.expandedAt} IS NULL`),
  ],
);

export const alertEventRetention = daysAfter(30, alertEvent.createdAt);

/** A message to a channel, and how sending it went. Its id is that of the message, the same in each attempt. */
export const alertDelivery = pgTable(
  "alert_delivery",
  {
    id: uuid().primaryKey(),
    channelId: ownedBy(() => alertChannel.id),
    /** Null for a digest and a test. */
    eventId: uuid().references(() => alertEvent.id, { onDelete: "cascade" }),
    /** alert | digest | test */
    kind: text().notNull(),
    /** `held` until `dueAt` | waiting | digested: sent within `digestId` | sent | failed */
    status: text().notNull(),
    digestId: uuid().references((): AnyPgColumn => alertDelivery.id, { onDelete: "cascade" }),
    /** No attempt before then; held: the end of quiet hours or of a flood. */
    dueAt: instant().notNull(),
    attempts: integer().notNull().default(0),
    lastAttemptAt: instant(),
    /** HTTP status of the last answer; null without one. */
    lastStatus: smallint(),
    /** The beginning of the last answer, or why there was none. */
    lastAnswer: text(),
    /** The email messages of the queue, which have results of their own; null for a webhook. */
    mailIds: uuid().array(),
    settledAt: instant(),
    createdAt: instant().notNull(),
  },
  (table) => [
    uniqueIndex().on(table.channelId, table.eventId),
    index().on(table.channelId, table.createdAt),
    index().on(table.eventId),
    index().on(table.digestId),
    index().on(table.createdAt),
    index("alert_delivery_due_index")
      .on(table.channelId, table.dueAt)
      .where(sql`${table.status} IN ('held', 'waiting')`),
  ],
);

export const alertDeliveryRetention = daysAfter(30, alertDelivery.createdAt);

/** From when on a project's calls are slow, and whether they are. */
export const alertRule = pgTable("alert_rule", {
  projectId: keyedBy(() => project.id),
  /** The 95th percentile above which calls are slow, milliseconds; null: by `latencyFactor` only. */
  latencyMs: integer(),
  /** How many times that of the week before; null: not compared with it. */
  latencyFactor: smallint(),
  /** Since when they are slow; null: they aren't. */
  slowSince: instant(),
  updatedAt: instant().notNull().defaultNow(),
});

export const alertRuleRetention: RetentionRule = { until: "owner" };
