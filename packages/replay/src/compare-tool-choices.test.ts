import { expect, test } from "vitest";
import { compareToolChoices } from "./compare-tool-choices.ts";
import type { ChoiceInput, JsonObject, OfferedTool } from "./types.ts";

const offer = (description: string): OfferedTool[] => [{ name: "find", description, inputSchema: { type: "object" } }];
const [before, after] = [offer("Finds"), offer("Finds well")];

type Choose = (
  isPreview: boolean,
  count: number,
  question: string,
) => string | null | { tool: string; with: JsonObject };

async function compare(choose: Choose, options: Partial<ChoiceInput> = {}) {
  const counts = { production: 0, preview: 0 };
  const report = await compareToolChoices({
    questions: ["Where?"],
    production: before,
    preview: after,
    ask: async (question, tools) => {
      const side = tools === before ? "production" : "preview";
      counts[side] += 1;
      const choice = choose(side === "preview", counts[side], question);
      const isPlain = choice === null || typeof choice === "string";
      return { tool: isPlain ? choice : choice.tool, arguments: isPlain ? {} : choice.with, tokens: 10 };
    },
    budget: { calls: 100, seconds: 5, tokens: 1000 },
    signal: new AbortController().signal,
    ...options,
  });
  return { ...report, states: report.questions.map(({ state }) => state), counts };
}

test("CAP-4 a stable choice of a tool that changes is a difference, and nothing else is", async () => {
  expect(await compare(() => "find")).toMatchObject({ verdict: "same", tokens: 30, states: ["same"] });
  const other = await compare((isPreview) => (isPreview ? null : "find"));
  expect(other).toMatchObject({ verdict: "different", states: ["other-tool"], counts: { production: 2, preview: 2 } });
  expect(other.questions[0]?.text).toBe("The model now chooses no tool instead of find.");
  const wavers = await compare((isPreview, count) => (!isPreview && count === 2 ? "other" : "find"));
  expect(wavers).toMatchObject({ verdict: "inconclusive", states: ["unstable"], counts: { preview: 0 } });
  const once = await compare((isPreview, count) => (isPreview && count === 1 ? "other" : "find"));
  expect(once).toMatchObject({ verdict: "inconclusive", states: ["unstable"] });
});

test("CAP-4 one question that fails, wavers or isn't asked leaves nothing to conclude from the same choices of others", async () => {
  const questions = ["a", "b"];
  const verdictWhere = async (ofB: () => string, options: Partial<ChoiceInput> = {}) => {
    const { verdict, states } = await compare((_, __, of) => (of === "b" ? ofB() : "find"), { questions, ...options });
    return [verdict, ...states];
  };
  const fails = () => {
    throw new Error("overloaded");
  };
  expect(await verdictWhere(() => "find")).toEqual(["same", "same", "same"]);
  expect(await verdictWhere(fails)).toEqual(["inconclusive", "same", "failed"]);
  let count = 0;
  expect(await verdictWhere(() => `tool${count++}`)).toEqual(["inconclusive", "same", "unstable"]);
  const budget = { calls: 3, seconds: 5, tokens: 1000 };
  expect(await verdictWhere(() => "find", { budget })).toEqual(["inconclusive", "same", "not-asked"]);
  expect((await compare(() => "find", { questions: [] })).verdict).toBe("inconclusive");
});

test("CAP-4 arguments are compared where production's two choices agree", async () => {
  const changed = await compare((isPreview, count) => ({
    tool: "find",
    with: { city: isPreview ? "Rome" : "Oslo", text: `t${count}` },
  }));
  expect(changed).toMatchObject({ verdict: "different", states: ["other-arguments"] });
  expect(changed.questions[0]?.text).toBe("The model still chooses find, with other values of city.");
  const free = await compare((isPreview, count) => ({ tool: "find", with: { text: isPreview ? `t${count}` : "t" } }));
  expect(free).toMatchObject({ verdict: "inconclusive", states: ["unstable"] });
  const varies = await compare((isPreview, count) => ({ tool: "find", with: { text: `${isPreview} ${count}` } }));
  expect(varies.verdict).toBe("same");
  const spelling = await compare((isPreview) => ({ tool: "find", with: { city: isPreview ? "oslo" : "Oslo" } }));
  expect(spelling.verdict).toBe("same");
});

test("CAP-4 equal tools cost no question, and budgets of tokens and seconds, failures and aborts end questions", async () => {
  expect(await compare(() => "find", { preview: offer("Finds") })).toMatchObject({ verdict: "same", tokens: 0 });
  const questions = ["a", "b", "c"];
  const poor = await compare(() => "find", { questions, budget: { calls: 100, seconds: 5, tokens: 45 } });
  expect(poor).toMatchObject({ tokens: 40, verdict: "inconclusive", states: ["same", "not-asked", "not-asked"] });
  const few = await compare(() => "find", { questions, budget: { calls: 6, seconds: 5, tokens: 1000 } });
  expect(few).toMatchObject({ calls: 6, states: ["same", "same", "not-asked"] });
  expect(few.questions[2]?.text).toBe("The calls of the model for questions were used up.");
  const hangs = () => new Promise<never>(() => {});
  const late = await compare(() => "find", {
    questions,
    ask: hangs,
    budget: { calls: 100, seconds: 0.05, tokens: 45 },
  });
  expect(late).toMatchObject({ verdict: "inconclusive", states: ["not-asked", "not-asked", "not-asked"] });
  const failed = await compare(() => "find", { ask: () => Promise.reject(new Error("overloaded")) });
  expect(failed.questions).toMatchObject([{ state: "failed", text: "The model gave no answer: overloaded" }]);
  const ended = await compare(() => "find", { ask: hangs, signal: AbortSignal.timeout(30) });
  expect(ended.questions).toMatchObject([{ state: "not-asked", text: "The check was ended." }]);
});

test("CAP-4 answers that are cut off, fail or are ended count in the budgets of tokens and calls", async () => {
  const questions = ["a", "b", "c"];
  const failing = (tokens: number): Partial<ChoiceInput> => ({
    questions,
    ask: async () => ({ problem: "Tester was cut off.", tokens }),
  });
  const dear = await compare(() => null, { ...failing(30), budget: { calls: 100, seconds: 5, tokens: 70 } });
  expect(dear).toMatchObject({
    verdict: "inconclusive",
    calls: 2,
    tokens: 60,
    states: ["failed", "failed", "not-asked"],
  });
  expect(dear.questions[0]?.text).toBe("The model gave no answer: Tester was cut off.");
  const few = await compare(() => null, { ...failing(0), budget: { calls: 2, seconds: 5, tokens: 70 } });
  expect(few).toMatchObject({ calls: 2, states: ["failed", "failed", "not-asked"] });
  const whenEnded: ChoiceInput["ask"] = (_question, _tools, signal) =>
    new Promise((resolve) => signal.addEventListener("abort", () => resolve({ problem: "Ended.", tokens: 25 })));
  const ended = await compare(() => null, { questions, ask: whenEnded, signal: AbortSignal.timeout(30) });
  expect(ended).toMatchObject({ calls: 1, tokens: 25, states: ["not-asked", "not-asked", "not-asked"] });
});

test("CAP-4 several questions under way keep their order and the budgets", async () => {
  const questions = Array.from({ length: 9 }, (_, at) => `${at}`);
  let [open, most] = [0, 0];
  const ask: ChoiceInput["ask"] = async (question) => {
    most = Math.max(most, ++open);
    await new Promise((resolve) => setTimeout(resolve, 9 - Number(question)));
    open -= 1;
    return { tool: "find", arguments: { question }, tokens: 10 };
  };
  const all = await compare(() => null, { questions, ask, concurrency: 3 });
  expect(all.questions.map(({ question, production }) => [question, production?.arguments])).toEqual(
    questions.map((question) => [question, { question }]),
  );
  expect([most, all.calls, all.verdict]).toEqual([3, 27, "same"]);
  const poor = await compare(() => null, {
    questions,
    ask,
    concurrency: 3,
    budget: { calls: 100, seconds: 5, tokens: 100 },
  });
  expect(poor.tokens).toBeLessThanOrEqual(100);
  const few = await compare(() => null, {
    questions,
    ask,
    concurrency: 3,
    budget: { calls: 8, seconds: 5, tokens: 1000 },
  });
  expect(few.calls).toBe(8);
});
