import { index, integer, jsonb, pgTable, primaryKey, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { instant, ownedBy } from "./columns.ts";
import { organization } from "./organization.ts";
import { project } from "./project.ts";
import { daysAfter, type RetentionRule } from "./retention-rule.ts";
import { user } from "./user.ts";

/** A person's conversation with a server. Nobody else sees it, not even owners. */
export const chat = pgTable(
  "chat",
  {
    id: uuid().primaryKey(),
    projectId: ownedBy(() => project.id),
    userId: ownedBy(() => user.id),
    title: text().notNull(),
    createdAt: instant().notNull().defaultNow(),
    /** Of its latest turn. */
    updatedAt: instant().notNull().defaultNow(),
  },
  (table) => [
    index().on(table.projectId, table.userId, table.updatedAt),
    index().on(table.userId),
    index().on(table.updatedAt),
  ],
);

/** 90 days after its latest turn. */
export const chatRetention = daysAfter(90, chat.updatedAt);

/** A question and its answer. Values of the server's variables were replaced by their names. */
export const chatTurn = pgTable(
  "chat_turn",
  {
    id: uuid().primaryKey(),
    chatId: ownedBy(() => chat.id),
    /** Counts from 1. Asking again replaces the last one. */
    number: integer().notNull(),
    question: text().notNull(),
    /** `ChatAttachment` of core: what the person added to the question. */
    attachments: jsonb().notNull().default([]),
    /** Name of the model in the operator's settings. */
    model: text().notNull(),
    /** The deployment whose tools were used; no foreign key, since chats outlive deployments. */
    deploymentId: uuid().notNull(),
    /** running | done | stopped | failed. A turn whose process died stays running: its age shows that. */
    status: text().notNull(),
    /** `ChatPart` of core. */
    parts: jsonb().notNull().default([]),
    /** `ChatProblem` of core: why it failed. */
    problem: jsonb(),
    /** The person's answers to approvals and forms, by the question's id; emptied when the turn ends. */
    replies: jsonb().notNull().default({}),
    inputTokens: integer().notNull().default(0),
    outputTokens: integer().notNull().default(0),
    createdAt: instant().notNull().defaultNow(),
    endedAt: instant(),
  },
  (table) => [uniqueIndex().on(table.chatId, table.number)],
);

export const chatTurnRetention: RetentionRule = { until: "owner" };

/** What a turn or a check has used of a model. It outlives its chat: deleting one restores no allowance. */
export const chatUsage = pgTable(
  "chat_usage",
  {
    /** Of a turn: the turn's. */
    id: uuid().primaryKey(),
    organizationId: ownedBy(() => organization.id),
    projectId: uuid().notNull(),
    /** Null: the check of a pull request (CAP-4). */
    userId: uuid(),
    model: text().notNull(),
    inputTokens: integer().notNull().default(0),
    outputTokens: integer().notNull().default(0),
    time: instant().notNull().defaultNow(),
  },
  (table) => [
    index().on(table.organizationId, table.time),
    index().on(table.userId, table.time),
    index().on(table.time),
  ],
);

/** 31 days. */
export const chatUsageRetention = daysAfter(31, chatUsage.time);

/** Questions that a model has made for a manifest (CHAT-2). */
export const suggestedQuestions = pgTable(
  "suggested_questions",
  {
    projectId: ownedBy(() => project.id),
    /** SHA-256 of the manifest and the model's name. */
    digest: text().notNull(),
    questions: text().array().notNull(),
    createdAt: instant().notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.digest] }), index().on(table.createdAt)],
);

/** 30 days; a chat that is opened then has them made again. */
export const suggestedQuestionsRetention = daysAfter(30, suggestedQuestions.createdAt);
