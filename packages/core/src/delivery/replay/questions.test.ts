import { auditLog, branch, build, callReplay, chatUsage, forkPullRequest } from "@towpath/db/schema";
import { createSecretBox } from "@towpath/secrets";
import { and, eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { updateProject } from "../../projects/project/index.ts";
import { refusalCode } from "../../testing/expect-code.ts";
import { ReportsModel } from "../../testing/github-reports.ts";
import { memoryQueue, sampleManifest, sampleTool, seedSecrets, shaOf, succeedBuild } from "../../testing/index.ts";
import { openProjectSuite } from "../../testing/project-suite.ts";
import { startBuild } from "../build/index.ts";
import { reportBranch } from "../report/index.ts";
import { getReplay, type QuestionModel, runReplay, startReplay } from "./index.ts";

const secrets = createSecretBox({ current: "a root secret for tests, at least 32 characters", previous: [] });
const queue = memoryQueue({ withReports: true });
const suite = openProjectSuite({ secrets, queue });
const db = () => suite.database.db;
const owner = () => suite.as(suite.organization.owner);
const job = () => suite.as({ kind: "job", job: "calls.replay" });
const reports = new ReportsModel();

const manifest = (find: string, more = "") =>
  sampleManifest({
    tools: [sampleTool("find", { description: find }), sampleTool("list", { description: `Lists ${more}` })],
  });

async function branchOf(name: string) {
  const own = and(eq(branch.projectId, suite.project.id), eq(branch.name, name));
  const [row] = await db().select().from(branch).where(own);
  if (!row) throw new Error(`no branch ${name}`);
  return row;
}

async function deploy(name: string, commit: string, offered: object): Promise<string> {
  const input = { ...suite.at(), branch: name, commitSha: shaOf(commit), reuse: "never" as const };
  const { build: started } = await startBuild({ ctx: owner(), input });
  await succeedBuild(db(), started.id);
  await db().update(build).set({ manifest: offered }).where(eq(build.id, started.id));
  return started.id;
}

/** Chooses the first tool whose description has the question's last word; none otherwise. */
function modelOf(tokensPerDay = 1_000_000) {
  const asked: string[] = [];
  const model: QuestionModel = {
    name: "Tester",
    tokensPerDay,
    async choose({ question, tools }) {
      asked.push(JSON.stringify([question, tools]));
      const word = question.split(" ").at(-1) ?? "";
      const tool = tools.find(({ description }) => description?.includes(word))?.name ?? null;
      const given = tool === null ? null : { for: tools[0]?.description ?? "", password: "hunter2" };
      return { tool, arguments: given, inputTokens: 90, outputTokens: 10 };
    },
  };
  return { model, asked };
}

const questionsAre = (changes: object, more: object = {}) =>
  updateProject({
    ctx: owner(),
    input: { ...suite.at(), checkQuestions: { isOn: true, ...changes } as never, ...more },
  });

/** Does what a worker does with the newest replay of a build, and reports it. */
async function check(buildId: string, model: QuestionModel | null, outcome = "done") {
  const [row] = await db().select().from(callReplay).where(eq(callReplay.buildId, buildId));
  const openServer = () => {
    throw new Error("no server is called for questions");
  };
  const { signal } = new AbortController();
  expect(await runReplay({ ctx: job(), input: { replayId: row?.id ?? "", openServer, model, signal } })).toBe(outcome);
  const input = { branchId: row?.branchId ?? "", reporter: reports, postState: async () => {} };
  await reportBranch({ ctx: job(), input });
  const { questions, ...view } = await getReplay({ ctx: owner(), input: { buildId } });
  const [stored] = await db().select().from(callReplay).where(eq(callReplay.buildId, buildId));
  return { ...view, questions, states: questions?.questions.map(({ state }) => state), sealed: stored?.sealed };
}

test("CAP-4 saved questions are asked with the tools of both versions; the check names what a model chooses otherwise, without values of variables, and counts it like answers", async () => {
  await seedSecrets(db(), secrets, suite.project.id, { API_TOKEN: "canary-7f3a9c1e5d" });
  await deploy("main", "main", manifest("Finds invoices by canary-7f3a9c1e5d"));
  const off = await deploy("topic", "off", manifest("Other"));
  expect(await getReplay({ ctx: owner(), input: { buildId: off } })).toMatchObject({ state: "off", questions: null });
  await questionsAre({ texts: ["Where are invoices", "What is there for customers", "Which are overdue"] });
  const { model, asked } = modelOf();
  // Equal lists of tools cost nothing.
  const same = await deploy("topic", "same", manifest("Finds invoices by canary-7f3a9c1e5d"));
  expect(await check(same, model)).toMatchObject({
    verdict: "same",
    text: "3 questions: same choices",
    report: null,
    remarks: [],
    questions: { model: null, calls: 0, tokens: 0 },
  });
  expect(asked).toEqual([]);
  expect(reports.checkOf(shaOf("same"))).toMatchObject({
    conclusion: "success",
    title: "Live. 3 questions: same choices",
  });

  const other = await deploy("topic", "other", manifest("Finds customers", "invoices"));
  const found = await check(other, model);
  expect(found).toMatchObject({
    verdict: "different",
    states: ["other-tool", "other-tool", "same"],
    text: "3 questions: 2 with another tool, 1 same",
    isRequired: false,
    questions: { model: "Tester", calls: 11, tokens: 1100 },
  });
  expect(found.questions?.questions[0]).toMatchObject({
    production: { tool: "find", arguments: expect.stringContaining("Finds invoices by") },
    preview: { tool: "list", arguments: expect.stringContaining("Finds customers") },
    text: "The model now chooses list instead of find.",
  });
  const reported = reports.checkOf(shaOf("other"));
  expect(reported).toMatchObject({
    conclusion: "neutral",
    text: expect.stringMatching(
      /`Tester` was called 11 times, for 1,100 tokens[\s\S]*\| `Where are invoices` \| `find`.*\| `list`.*\| \*\*another tool\*\* \|/,
    ),
  });
  expect(JSON.stringify([asked, found, reported])).not.toContain("canary-7f3a9c1e5d");
  expect(JSON.stringify([found, reported])).not.toContain("hunter2");
  expect(found.sealed).not.toContain("invoices");
  const used = await db().select().from(chatUsage).where(eq(chatUsage.projectId, suite.project.id));
  expect(used).toMatchObject([{ userId: null, model: "Tester", inputTokens: 990, outputTokens: 110 }]);
  // By the same setting as answers.
  await questionsAre({ texts: ["Where are invoices"] }, { replay: { isRequired: true } });
  await startReplay({ ctx: owner(), input: { buildId: other } });
  expect(await check(other, model)).toMatchObject({ text: "No calls compared. 1 question: 1 with another tool" });
  expect(reports.checkOf(shaOf("other"))).toMatchObject({
    conclusion: "failure",
    summary: expect.stringContaining("lead a model to the same tools"),
  });
  await questionsAre({ texts: ["Which are overdue"] }, { replay: null });
});

test("CAP-4 questions beyond the budget, without a model, beyond the organization's tokens and of a fork are not asked, which no check fails for", async () => {
  await deploy("main", "main", manifest("Finds invoices"));
  const texts = ["Where are invoices", "What is there for customers"];
  await questionsAre({ texts, tokens: 1000, calls: 4 }, { replay: { isRequired: true } });
  const buildId = await deploy("topic", "other", manifest("Finds customers", "invoices"));
  const again = async (model: QuestionModel | null) => {
    await startReplay({ ctx: owner(), input: { buildId } });
    const { states, questions, verdict } = await check(buildId, model);
    return [verdict, states, new Set(questions?.questions.map(({ text }) => text))];
  };
  const few = await again(modelOf().model);
  expect(few[1]).toContain("not-asked");
  expect(few[2]).toContain("The calls of the model for questions were used up.");
  const none = ["not-asked", "not-asked"];
  expect(await again(null)).toEqual(["inconclusive", none, new Set([expect.stringContaining("TOWPATH_CHAT_MODELS")])]);
  expect(reports.checkOf(shaOf("other"))).toMatchObject({
    conclusion: "neutral",
    text: expect.stringContaining("- 2 questions: `No model is configured."),
  });
  const { model, asked } = modelOf(100);
  expect(await again(model)).toEqual(["inconclusive", none, new Set([expect.stringContaining("used 100 tokens")])]);
  expect(asked).toEqual([]);
  const failing: QuestionModel = { ...model, tokensPerDay: 1e9, choose: () => Promise.reject(new Error("No credit.")) };
  expect(await again(failing)).toEqual([
    "inconclusive",
    ["failed", "failed"],
    new Set(["The model gave no answer: No credit."]),
  ]);
  expect(reports.checkOf(shaOf("other"))).toMatchObject({ conclusion: "neutral" });
  const tokensUsed = async () => {
    const rows = await db().select().from(chatUsage).where(eq(chatUsage.projectId, suite.project.id));
    return rows.reduce((sum, { inputTokens, outputTokens }) => sum + inputTokens + outputTokens, 0);
  };
  const before = await tokensUsed();
  const choose = async () => ({ problem: "Tester was cut off.", inputTokens: 300, outputTokens: 100 });
  // Both questions are under way at once, and what each costs is known when it has ended.
  expect((await again({ ...failing, choose }))[1]).toEqual(["failed", "failed"]);
  expect(await tokensUsed()).toBe(before + 800);

  const branchId = (await branchOf("topic")).id;
  const fork = { headBranch: "topic", author: "mallory", title: "t", commitSha: shaOf("fork"), state: "approved" };
  await startReplay({ ctx: owner(), input: { buildId } });
  await db()
    .insert(forkPullRequest)
    .values({ branchId, ...fork });
  const ofFork = modelOf();
  expect(await check(buildId, ofFork.model, "over")).toMatchObject({ state: "fork", questions: null });
  const pushed = await deploy("topic", "fork", manifest("Finds customers"));
  expect(await db().$count(callReplay, eq(callReplay.buildId, pushed))).toBe(0);
  expect(await refusalCode(startReplay({ ctx: owner(), input: { buildId: pushed } }))).toBe("conflict");
  expect(ofFork.asked).toEqual([]);
});

test("CAP-4 a check that waits for answers or choices is reported again once its settings are switched off", async () => {
  await deploy("main", "main", manifest("Finds invoices"));
  await questionsAre({ texts: ["Where are invoices"] }, { replay: {} });
  const buildId = await deploy("waits", "waits", manifest("Finds customers"));
  const reportJobs = async (change: () => Promise<unknown>) => {
    queue.jobs.splice(0);
    await change();
    return queue.jobs.map(({ name }) => name).filter((name) => name === "branch.report");
  };
  expect(await reportJobs(() => questionsAre({ texts: ["Where are invoices"] }, { replay: null }))).toHaveLength(1);
  const waiting = await startReplay({ ctx: owner(), input: { buildId } });
  expect(waiting.text).toBe("A model will be asked with the tools of this preview.");
  await reportBranch({
    ctx: job(),
    input: { branchId: (await branchOf("waits")).id, reporter: reports, postState: async () => {} },
  });
  expect(reports.checkOf(shaOf("waits"))).toMatchObject({
    status: "in_progress",
    title: expect.stringMatching(/Asking a model$/),
  });
  await questionsAre({ isOn: false });
  expect(await reportJobs(() => check(buildId, null, "over"))).toHaveLength(1);
});

test.each([
  ["Enter a question", { texts: [""] }],
  ["A question has at most 1,000 characters", { texts: ["x".repeat(1001)] }],
  ["A question cannot contain a NUL character", { texts: ["a\0b"] }],
  ["Save at most 20 questions", { texts: Array.from({ length: 21 }, (_, at) => `${at}`) }],
  ["Allow at least 1,000 tokens", { tokens: 10 }],
  ["Allow at most 120 seconds", { seconds: 121 }],
])("CAP-4 questions are checked: %s", async (message, changes) => {
  await expect(questionsAre(changes)).rejects.toMatchObject({ code: "invalid_input", message });
});

test("CAP-4 who may change settings saves questions, each once; others don't", async () => {
  expect((await questionsAre({ texts: [" Where? ", "Where?"] })).checkQuestions).toEqual({
    isOn: true,
    texts: ["Where?"],
    calls: 80,
    seconds: 60,
    tokens: 100_000,
  });
  const entries = await db().select().from(auditLog).where(eq(auditLog.projectId, suite.project.id));
  expect(entries.map(({ detail }) => detail)).toContainEqual({
    checkQuestions: expect.objectContaining({ texts: ["Where?"] }),
  });
  const viewer = suite.as(await suite.organization.join("viewer"));
  const input = { ...suite.at(), checkQuestions: { texts: [] } };
  expect(await refusalCode(updateProject({ ctx: viewer, input }))).toBe("forbidden");
});
