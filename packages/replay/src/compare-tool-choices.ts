import { canonical } from "./bound.ts";
import type { ChoiceInput, ChoiceReport, ComparedChoice, JsonObject, ToolChoice, Verdict } from "./types.ts";

/**
 * Asks a model each question with the tools of both servers and reports which choices changed. Production's tools are asked
 * about twice, and the preview's once more before a difference counts, as models vary. Equal lists of tools cost no question.
 * Never rejects: a model that fails is part of the report.
 */
export async function compareToolChoices(input: ChoiceInput): Promise<ChoiceReport> {
  const begun = performance.now();
  const budget = new Budget(input);
  const questions: ComparedChoice[] = [];
  for (const question of input.questions) questions.push(await compareOne(input, question, budget));
  budget.close();
  const seconds = Math.round((performance.now() - begun) / 100) / 10;
  return { verdict: verdictOf(questions), seconds, tokens: budget.tokens, questions };
}

function verdictOf(questions: readonly ComparedChoice[]): Verdict {
  if (questions.some(({ state }) => state === "different")) return "different";
  return questions.some(({ state }) => state === "same") ? "same" : "inconclusive";
}

/** Counts tokens, and stops before a question that would probably cost more than is left. */
class Budget {
  tokens = 0;
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

  /** Why no question may be asked any more; null while one may. */
  get ended(): string | null {
    if (this.#input.signal.aborted) return "The check was ended.";
    if (this.#timeOver.signal.aborted) return "The time for questions was used up.";
    const { tokens } = this.#input.budget;
    return this.tokens + this.#dearest > tokens || tokens <= 0 ? "The tokens for questions were used up." : null;
  }

  spend(tokens: number): void {
    this.tokens += tokens;
    this.#dearest = Math.max(this.#dearest, tokens);
  }

  close(): void {
    clearTimeout(this.#timer);
  }
}

class NotAsked extends Error {}

async function compareOne(input: ChoiceInput, question: string, budget: Budget): Promise<ComparedChoice> {
  const nothing = { question, production: null, preview: null };
  if (canonical(offered(input.production)) === canonical(offered(input.preview))) {
    return { ...nothing, state: "same", text: "Both versions offer the same tools with the same descriptions." };
  }
  try {
    return await compareAnswers(input, question, budget);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const isOver = error instanceof NotAsked || budget.ended !== null;
    const text = isOver ? (budget.ended ?? reason) : `The model gave no answer: ${reason}`;
    return { ...nothing, state: isOver ? "not-asked" : "failed", text };
  }
}

const offered = (tools: ChoiceInput["production"]) =>
  tools.map(({ name, description = "", inputSchema }) => ({ name, description, inputSchema }));

async function compareAnswers(input: ChoiceInput, question: string, budget: Budget): Promise<ComparedChoice> {
  const ask = async (tools: ChoiceInput["production"]): Promise<ToolChoice> => {
    if (budget.ended !== null) throw new NotAsked(budget.ended);
    const answer = await endedBy(budget.signal, input.ask(question, tools, budget.signal));
    budget.spend(answer.tokens);
    return { tool: answer.tool, arguments: answer.arguments };
  };
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
  const first = changeOf([production, again], preview);
  if (first === null) return { ...known, preview, state: "same", text: `The model chose ${named(preview)} with both.` };
  const previewAgain = await ask(input.preview);
  if (preview.tool !== previewAgain.tool || changeOf([production, again], previewAgain) === null) {
    return {
      ...known,
      preview,
      state: "unstable",
      text: "With the preview's tools the model chose in different ways.",
    };
  }
  return { ...known, preview, state: "different", text: first };
}

const named = ({ tool }: ToolChoice) => tool ?? "no tool";

/** In words what of a choice changed: the tool, or arguments that production's two choices agree on. Null: nothing. */
function changeOf(production: readonly ToolChoice[], preview: ToolChoice): string | null {
  const [first] = production;
  if (first === undefined) return null;
  if (first.tool !== preview.tool) return `The model now chooses ${named(preview)} instead of ${named(first)}.`;
  const all = production.map((choice) => choice.arguments ?? {});
  const now = preview.arguments ?? {};
  const keys = [...new Set([...all, now].flatMap((each) => Object.keys(each)))].sort();
  const changed = keys.filter((key) => {
    const values = new Set(all.map((each) => spelling(each, key)));
    return values.size === 1 && !values.has(spelling(now, key));
  });
  if (changed.length === 0) return null;
  return `The model still chooses ${named(preview)}, with other values of ${changed.join(", ")}.`;
}

const spelling = (values: JsonObject, key: string) => canonical(values[key]).trim().toLowerCase();

/** The promise, or a rejection as soon as the signal aborts. */
function endedBy<Value>(signal: AbortSignal, promise: Promise<Value>): Promise<Value> {
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const end = () => reject(new NotAsked("The question was ended."));
  if (signal.aborted) end();
  signal.addEventListener("abort", end, { once: true });
  return Promise.race([promise, ended]).finally(() => signal.removeEventListener("abort", end));
}
