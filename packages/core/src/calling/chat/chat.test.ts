import { chat, chatTurn, chatUsage } from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import { eq } from "drizzle-orm";
import { beforeEach, expect, test } from "vitest";
import type { Actor } from "../../context/index.ts";
import { newId } from "../../ids/index.ts";
import { sweepRows } from "../../operations/retention/index.ts";
import {
  openOrganization,
  refusal,
  refusalCode,
  sampleManifest,
  seedOrganization,
  seedProject,
  testContext,
} from "../../testing/index.ts";
import { type ChatPart, type ChatToolPart, withEvent } from "./chat.schema.ts";
import {
  beginTurn,
  countModelUse,
  deleteChat,
  endTurn,
  findSuggestedQuestions,
  getChat,
  isTurnRunning,
  keepSuggestedQuestions,
  listChats,
  recordUsage,
  renameChat,
  replyToTurn,
  stopTurn,
  takeReply,
} from "./index.ts";

const database = openTestDatabase();
const organization = openOrganization(database, { fresh: true });
let own: Awaited<ReturnType<typeof seedProject>>;
let member: Actor;
beforeEach(async () => {
  own = await seedProject(database.db, organization);
  member = await organization.join("member");
});

const start = new Date("2026-11-01T12:00:00Z");
let now = start;
beforeEach(() => {
  now = start;
});
const as = (actor: Actor) => testContext(database.db, actor, { clock: { now: () => now } });
const scope = () => ({ orgSlug: organization.slug, projectName: own.name });
const limits = { questionsPerHour: 3, tokensPerDay: 1000 };
const defaults = { chatId: null, attachments: [], replacesLast: false, model: "test", deploymentId: newId() };

const ask = (question: string, more: object = {}, actor = member) =>
  beginTurn({ ctx: as(actor), input: { ...scope(), ...defaults, question, ...more }, limits });
const end = (turnId: string, parts: readonly ChatPart[] = [], actor = member) =>
  endTurn({
    ctx: as(actor),
    input: { turnId, status: "done", parts, problem: null, inputTokens: 10, outputTokens: 5 },
  });
const read = (chatId: string, actor = member) => getChat({ ctx: as(actor), input: { ...scope(), chatId } });
const list = (actor = member) => listChats({ ctx: as(actor), input: scope() });

test("CHAT-1 a chat keeps questions and answers in order, and is named after its first question", async () => {
  const first = await ask(`What is ${"very ".repeat(20)}long?\nAnd more`);
  expect(first).toMatchObject({ history: [], title: expect.stringMatching(/^What is very .{20,}…$/) });
  await end(first.turnId, [{ kind: "text", text: "This." }]);
  const second = await ask("And that?", { chatId: first.chatId });
  expect(second.history).toMatchObject([{ number: 1, status: "done", parts: [{ kind: "text", text: "This." }] }]);
  expect(await read(first.chatId)).toMatchObject({
    turns: [
      { number: 1, inputTokens: 10, outputTokens: 5 },
      { number: 2, question: "And that?", status: "running", parts: [] },
    ],
  });
  await renameChat({ ctx: as(member), input: { ...scope(), chatId: first.chatId, title: "  Mine " } });
  expect((await list()).map(({ title }) => title)).toEqual(["Mine"]);
});

test("CHAT-1 asking again replaces the last question, and only when nothing answers any more", async () => {
  const { chatId, turnId } = await ask("One");
  expect(await refusalCode(ask("Two", { chatId }))).toBe("conflict");
  expect(await refusalCode(ask("One, better", { chatId, replacesLast: true }))).toBe("conflict");
  await end(turnId);
  const again = await ask("One, better", { chatId, replacesLast: true });
  expect(again.history).toEqual([]);
  expect((await read(chatId)).turns.map(({ number, question }) => [number, question])).toEqual([[1, "One, better"]]);
});

test("CHAT-1 chats are their person's alone: neither colleagues of any role nor other organizations find them", async () => {
  const { chatId, turnId } = await ask("Secret plan?");
  const stranger = await seedOrganization(database.db);
  const reply = { kind: "approval", decision: "once" } as const;
  for (const other of [organization.owner, await organization.join("admin")]) {
    const input = { ...scope(), chatId };
    const verbs = [
      () => read(chatId, other),
      () => renameChat({ ctx: as(other), input: { ...input, title: "x" } }),
      () => deleteChat({ ctx: as(other), input }),
      () => ask("Go on", { chatId }, other),
      () => replyToTurn({ ctx: as(other), input: { ...input, turnId, id: "call", reply } }),
    ];
    for (const verb of verbs) expect(await refusalCode(verb())).toBe("not_found");
    expect(await list(other)).toEqual([]);
    expect(await takeReply({ ctx: as(other), input: { turnId, id: "call" } })).toBeNull();
    await end(turnId, [{ kind: "text", text: "forged" }], other);
  }
  expect(await refusalCode(read(chatId, stranger.owner))).toBe("not_found");
  expect(await refusalCode(list(stranger.owner))).toBe("not_found");
  expect(await refusalCode(ask("Hello", {}, stranger.owner))).toBe("not_found");
  expect((await read(chatId)).turns).toMatchObject([{ status: "running", parts: [] }]);
});

test("CHAT-1 who may not call the server may not chat with it, and reads no chat through another project", async () => {
  expect(await refusalCode(ask("Hello", {}, await organization.join("viewer")))).toBe("forbidden");
  const { chatId } = await ask("Hello");
  const other = await seedProject(database.db, organization);
  const input = { orgSlug: organization.slug, projectName: other.name, chatId };
  expect(await refusalCode(getChat({ ctx: as(member), input }))).toBe("not_found");
  expect(await refusalCode(getChat({ ctx: as(member), input: { ...scope(), chatId: "no id" } }))).toBe("not_found");
});

test("CHAT-1 questions per hour and person are limited, deleted chats included, and the refusal says when to come back", async () => {
  for (const question of ["One", "Two", "Three"]) {
    const { chatId, turnId } = await ask(question);
    await end(turnId);
    await deleteChat({ ctx: as(member), input: { ...scope(), chatId } });
    now = new Date(now.getTime() + 10 * 60_000);
  }
  const refused = await refusal(ask("Four"));
  expect([refused.code, refused.message]).toEqual([
    "limit_reached",
    "You have asked 3 questions within an hour, which is the limit. Ask again in 30 min.",
  ]);
  expect((await ask("Mine", {}, organization.owner)).history).toEqual([]);
  now = new Date(start.getTime() + 3_600_001);
  expect((await ask("Four")).history).toEqual([]);
});

test("CHAT-1 of questions sent at once no more pass than the limit allows", async () => {
  const outcomes = await Promise.allSettled(Array.from({ length: 8 }, (_, count) => ask(`Question ${count}`)));
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
});

test("CHAT-1 an organization's tokens of a day are limited, also those of turns that never ended", async () => {
  const { turnId } = await ask("Expensive");
  await recordUsage({ ctx: as(member), input: { turnId, inputTokens: 900, outputTokens: 100 } });
  const refused = await refusal(ask("More", {}, organization.owner));
  expect([refused.code, refused.message]).toEqual(["limit_reached", expect.stringContaining("1,000 tokens")]);
  const elsewhere = await seedOrganization(database.db);
  const project = await seedProject(database.db, elsewhere);
  const input = { orgSlug: elsewhere.slug, projectName: project.name, ...defaults, question: "Hello" };
  expect((await beginTurn({ ctx: as(elsewhere.owner), input, limits })).history).toEqual([]);
  now = new Date(start.getTime() + 25 * 3_600_000);
  expect((await ask("Tomorrow", {}, organization.owner)).history).toEqual([]);
});

test("CHAT-1 a reply to an approval is taken once and not kept; when the turn has ended it is refused", async () => {
  const { chatId, turnId } = await ask("Delete it");
  const input = { ...scope(), chatId, turnId, id: "call-1" };
  const form = { kind: "form", action: "accept", content: { pin: "1234" } } as const;
  await replyToTurn({ ctx: as(member), input: { ...input, reply: { kind: "approval", decision: "once" } } });
  await replyToTurn({ ctx: as(member), input: { ...input, reply: { kind: "approval", decision: "deny" } } });
  await replyToTurn({ ctx: as(member), input: { ...input, id: "form-1", reply: form } });
  const take = (id: string) => takeReply({ ctx: as(member), input: { turnId, id } });
  expect([await take("call-1"), await take("call-1"), await take("form-1")]).toEqual([
    { kind: "approval", decision: "once" },
    null,
    form,
  ]);
  const [row] = await database.db.select().from(chatTurn).where(eq(chatTurn.id, turnId));
  expect(row?.replies).toEqual({});
  const huge = { kind: "form", action: "accept", content: { text: "x".repeat(70_000) } } as const;
  expect(await refusalCode(replyToTurn({ ctx: as(member), input: { ...input, reply: huge } }))).toBe("invalid_input");
  await end(turnId);
  expect(await refusalCode(replyToTurn({ ctx: as(member), input: { ...input, reply: form } }))).toBe("conflict");
});

test("CHAT-1 a stopped turn frees its chat at once, and keeps what was answered until then", async () => {
  const { chatId, turnId } = await ask("Long story");
  const input = { ...scope(), chatId, turnId };
  const isRunning = () => isTurnRunning({ ctx: as(member), input: { turnId } });
  expect(await refusalCode(stopTurn({ ctx: as(organization.owner), input }))).toBe("not_found");
  expect(await isRunning()).toBe(true);
  await stopTurn({ ctx: as(member), input });
  expect(await isRunning()).toBe(false);
  const parts = [{ kind: "text", text: "Once upon" }] as const;
  const stopped = { turnId, status: "stopped", parts, problem: null, inputTokens: 1, outputTokens: 1 } as const;
  await endTurn({ ctx: as(member), input: stopped });
  expect((await ask("And then?", { chatId })).history).toMatchObject([{ status: "stopped", parts }]);
});

test("CHAT-1 other uses of a model count towards the same limits", async () => {
  const use = (actor = member) =>
    countModelUse({ ctx: as(actor), input: { ...scope(), model: "test" }, limits: { ...limits, questionsPerHour: 1 } });
  await recordUsage({ ctx: as(member), input: { turnId: await use(), inputTokens: 600, outputTokens: 400 } });
  expect(await refusalCode(use())).toBe("limit_reached");
  expect(await refusalCode(ask("Hello", {}, organization.owner))).toBe("limit_reached");
  expect(await refusalCode(use(await organization.join("viewer")))).toBe("forbidden");
});

test("CHAT-1 a turn whose process died counts as broken off after half an hour, and the chat goes on", async () => {
  const { chatId } = await ask("Hello?");
  now = new Date(start.getTime() + 31 * 60_000);
  expect((await read(chatId)).turns).toMatchObject([{ status: "failed", problem: { code: "interrupted" } }]);
  expect((await ask("Again?", { chatId })).history).toMatchObject([{ question: "Hello?" }]);
});

test("CHAT-1 a turn ends once: what comes later changes nothing", async () => {
  const { chatId, turnId } = await ask("Hello");
  await end(turnId, [{ kind: "text", text: "first" }]);
  await end(turnId, [{ kind: "text", text: "second" }]);
  expect((await read(chatId)).turns).toMatchObject([{ parts: [{ text: "first" }] }]);
});

test("CHAT-1 questions that are empty, too long or have no model are refused, and name the field", async () => {
  const wrong: [object, string][] = [
    [{ question: "  " }, "question"],
    [{ question: "x".repeat(32_001) }, "question"],
    [{ model: "" }, "model"],
    [{ deploymentId: "x" }, "deploymentId"],
    [{ attachments: Array.from({ length: 11 }, () => ({ kind: "resource", name: "a", uri: "b://c" })) }, "attachments"],
  ];
  for (const [more, field] of wrong) {
    const error = await refusal(ask("Hello", more));
    expect([error.code, Object.keys(error.fields)]).toEqual(["invalid_input", [field]]);
  }
});

test("CHAT-1 LOG-6 chats go 90 days after their last question, what they used after 31", async () => {
  const { chatId, turnId } = await ask("Hello");
  await end(turnId);
  const sweep = (day: number) => {
    const policy = {
      requestLogDays: 30,
      serverLogDays: 14,
      buildLogDays: 30,
      auditDays: 365,
      endedBranchDays: 14,
      buildsPerBranch: 100,
      deploymentsPerBranch: 20,
    };
    const ctx = testContext(database.db, { kind: "job", job: "test" });
    return sweepRows({ ctx, input: { now: new Date(start.getTime() + day * 86_400_000), policy } });
  };
  const counts = async () => [
    await database.db.$count(chat, eq(chat.id, chatId)),
    await database.db.$count(chatTurn, eq(chatTurn.chatId, chatId)),
    await database.db.$count(chatUsage, eq(chatUsage.id, turnId)),
  ];
  await sweep(30);
  expect(await counts()).toEqual([1, 1, 1]);
  await sweep(89);
  expect(await counts()).toEqual([1, 1, 0]);
  await sweep(91);
  expect(await counts()).toEqual([0, 0, 0]);
});

test("CHAT-2 questions made for a manifest are kept for it, its model and its project", async () => {
  const manifest = sampleManifest();
  const input = { ...scope(), manifest, model: "a" };
  expect(await findSuggestedQuestions({ ctx: as(member), input })).toBeNull();
  await keepSuggestedQuestions({ ctx: as(member), input: { ...input, questions: ["Why?", "How?"] } });
  await keepSuggestedQuestions({ ctx: as(organization.owner), input: { ...input, questions: ["Late"] } });
  const find = (more: object) => findSuggestedQuestions({ ctx: as(organization.owner), input: { ...input, ...more } });
  const other = await seedProject(database.db, organization);
  expect([
    await find({}),
    await find({ model: "b" }),
    await find({ manifest: { ...manifest, instructions: "new" } }),
    await find({ projectName: other.name }),
  ]).toEqual([["Why?", "How?"], null, null, null]);
});

test("CHAT-1 events put an answer together in order, and a tool call is updated in its place", () => {
  const call: ChatToolPart = {
    kind: "tool",
    id: "1",
    tool: "echo",
    arguments: {},
    status: "running",
    approval: null,
    result: null,
    error: null,
    truncated: false,
    durationMs: null,
    requestId: null,
    forms: [],
  };
  const parts = [
    { type: "text", delta: "Let me " } as const,
    { type: "text", delta: "see." } as const,
    { type: "tool", part: call } as const,
    { type: "text", delta: "Done" } as const,
    { type: "tool", part: { ...call, status: "done" } } as const,
  ].reduce<readonly ChatPart[]>(withEvent, []);
  expect(parts).toEqual([
    { kind: "text", text: "Let me see." },
    { ...call, status: "done" },
    { kind: "text", text: "Done" },
  ]);
});
