import { setTimeout as sleep } from "node:timers/promises";
import { canonical } from "./bound.ts";
import type { ChoiceInput, ChoiceReport, ComparedChoice, ToolChoice, Verdict } from "./types.ts";

/**
 * Asks a model each question with the tools of both servers and reports which choices changed. Production's tools are asked
 * about twice, and the preview's once more before a difference counts, as models vary. Equal lists of tools cost no question.
 * Never rejects: a model that fails is part of the report.
 */
export async function compareToolChoices(input: ChoiceInput): Promise<ChoiceReport> {
  const begun = performance.now();
  const budget = new Budget(input);
  const compared = new Map<number, ComparedChoice>();
  const left = input.questions.entries();
  const work = async () => {
    for (const [at, question] of left) compared.set(at, await compareOne(input, question, budget));
  };
  await Promise.all(Array.from({ length: input.concurrency ?? 1 }, work));
  budget.close();
  const questions = input.questions.flatMap((_, at) => compared.get(at) ?? []);
  const seconds = Math.round((performance.now() - begun) / 100) / 10;
  return { verdict: verdictOf(questions), seconds, calls: budget.calls, tokens: budget.tokens, questions };
}

/** Whether a model would read the same of both lists: names, descriptions and arguments of tools. */
export const offersSame = (one: ChoiceInput["production"], other: ChoiceInput["production"]): boolean =>
  canonical(offered(one)) === canonical(offered(other));

const offered = (tools: ChoiceInput["production"]) =>
  tools.map(({ name, description = "", inputSchema }) => ({ name, description, inputSchema }));

function verdictOf(questions: readonly ComparedChoice[]): Verdict {
  if (questions.some(({ state }) => state === "other-tool" || state === "other-arguments")) return "different";
  return questions.length > 0 && questions.every(({ state }) => state === "same") ? "same" : "inconclusive";
}

/** How long a call that is ended may take to say what it cost. */
const graceMs = 500;

/** Counts calls and tokens, and stops before a call that would probably cost more than is left. */
class Budget {
  calls = 0;
  tokens = 0;
  /** Calls that are not answered yet. */
  #open = 0;
  #dearest = 0;
  readonly #input: ChoiceInput;
  readonly #timeOver = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly signal: AbortSignal;

  constructor(input: ChoiceInput) {
    this.#input = input;
    this.#timer = setTimeout(() => this.#timeOver.abort(), input.budget.seconds * 1000);
    this.signal = AbortSignal.any([input.signal, this.#timeOver.signal]);
  }

  /** Why the model may not be called any more; null while it may. */
  get ended(): string | null {
    if (this.#input.signal.aborted) return "The check was ended.";
    if (this.#timeOver.signal.aborted) return "The time for questions was used up.";
    const { calls, tokens } = this.#input.budget;
    if (this.calls >= calls) return "The calls of the model for questions were used up.";
    const isDear = this.tokens + (this.#open + 1) * this.#dearest > tokens || tokens <= 0;
    return isDear ? "The tokens for questions were used up." : null;
  }

  /** @throws NotAsked where the model may not be called any more, an Error where it chose nothing */
  async spend(ask: () => ReturnType<ChoiceInput["ask"]>): Promise<ToolChoice> {
    const { ended } = this;
    if (ended !== null) throw new NotAsked(ended);
    this.#open += 1;
    this.calls += 1;
    try {
      const { tokens, ...answer } = await endedBy(this.signal, ask());
      this.tokens += tokens;
      this.#dearest = Math.max(this.#dearest, tokens);
      if ("problem" in answer) throw new Error(answer.problem);
      return answer;
    } finally {
      this.#open -= 1;
    }
  }

  close(): void {
    clearTimeout(this.#timer);
  }
}

class NotAsked extends Error {}

async function compareOne(input: ChoiceInput, question: string, budget: Budget): Promise<ComparedChoice> {
  const nothing = { question, production: null, preview: null };
  if (offersSame(input.production, input.preview)) {
    return { ...nothing, state: "same", text: "Both versions offer the same tools with the same descriptions." };
  }
  try {
    return await compareAnswers(input, question, budget);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    if (budget.signal.aborted) return { ...nothing, state: "not-asked", text: budget.ended ?? reason };
    if (error instanceof NotAsked) return { ...nothing, state: "not-asked", text: reason };
    return { ...nothing, state: "failed", text: `The model gave no answer: ${reason}` };
  }
}

async function compareAnswers(input: ChoiceInput, question: string, budget: Budget): Promise<ComparedChoice> {
  const ask = (tools: ChoiceInput["production"]) => budget.spend(() => input.ask(question, tools, budget.signal));
  const production = await ask(input.production);
  const again = await ask(input.production);
  const known = { question, production, preview: null };
  if (production.tool !== again.tool) {
    return {
      ...known,
      state: "unstable",
      text: `With production's tools the model chose ${named(production)}, then ${named(again)}.`,
    };
  }
  const preview = await ask(input.preview);
  if (changeOf([production, again], [preview]) === null)
    return { ...known, preview, state: "same", text: `The model chose ${named(preview)} with both.` };
  const previewAgain = await ask(input.preview);
  const change = changeOf([production, again], [preview, previewAgain]);
  if (preview.tool === previewAgain.tool && change !== null) return { ...known, preview, ...change };
  return { ...known, preview, state: "unstable", text: "With the preview's tools the model chose in different ways." };
}

const named = ({ tool }: ToolChoice) => tool ?? "no tool";

/** What changed: the tool, or arguments on which the choices of each side agree. Null: nothing. */
function changeOf(
  production: readonly ToolChoice[],
  preview: readonly ToolChoice[],
): Pick<ComparedChoice, "state" | "text"> | null {
  const [[was], [is]] = [production, preview];
  if (was === undefined || is === undefined) return null;
  if (was.tool !== is.tool) {
    return { state: "other-tool", text: `The model now chooses ${named(is)} instead of ${named(was)}.` };
  }
  const keys = [...new Set([...production, ...preview].flatMap((each) => Object.keys(each.arguments ?? {})))].sort();
  const changed = keys.filter((key) => {
    const [before, after] = [production, preview].map((side) => [...new Set(side.map((each) => spelling(each, key)))]);
    return before?.length === 1 && after?.length === 1 && before[0] !== after[0];
  });
  if (changed.length === 0) return null;
  const text = `The model still chooses ${named(is)}, with other values of ${changed.join(", ")}.`;
  return { state: "other-arguments", text };
}

const spelling = ({ arguments: given }: ToolChoice, key: string) => canonical(given?.[key]).trim().toLowerCase();

/** The promise, or a rejection soon after the signal aborts. */
function endedBy<Value>(signal: AbortSignal, promise: Promise<Value>): Promise<Value> {
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const end = () =>
    void sleep(graceMs, undefined, { ref: false }).then(() => reject(new NotAsked("The question was ended.")));
  if (signal.aborted) end();
  signal.addEventListener("abort", end, { once: true });
  return Promise.race([promise, ended]).finally(() => signal.removeEventListener("abort", end));
}
