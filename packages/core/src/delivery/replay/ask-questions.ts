import { type ChoiceReport, compareToolChoices, type OfferedTool, offersSame, type ToolChoice } from "@towpath/replay";
import { countUseOfCheck, recordUseOfCheck } from "../../calling/chat/internal.ts";
import type { Context } from "../../context/index.ts";
import type { CheckQuestions } from "../../projects/project/check-questions.schema.ts";
import { readManifest } from "../build/internal.ts";
import type { LiveVersion } from "./gather-replay.ts";
import type { ReadRedaction, Redaction } from "./redact-answers.ts";
import type { QuestionModel } from "./replay.port.ts";
import type { QuestionReport } from "./replay.schema.ts";

/** Providers limit requests at once. */
const concurrency = 2;
const maxArguments = 1000;

type Asked = {
  readonly organizationId: string;
  readonly production: LiveVersion;
  readonly preview: LiveVersion;
  readonly setting: CheckQuestions;
  readonly readRedaction: ReadRedaction;
};

/**
 * Asks a model the saved questions with the tools that production and the preview offered to their builds, and compares what
 * it chooses (CAP-4). No server is called.
 */
export async function askQuestions(
  ctx: Context,
  { organizationId, production, preview, setting, readRedaction }: Asked,
  { model, signal }: { readonly model: QuestionModel | null; readonly signal: AbortSignal },
): Promise<QuestionReport> {
  const { texts, calls, seconds, tokens } = setting;
  const redaction = await readRedaction();
  if (redaction === null) return noneAsked(texts, tooLarge);
  const [before, after] = [production, preview].map((version) => toolsOf(version, redaction));
  if (!before || !after) return noneAsked(texts, unknownTools);
  const budget = { calls, seconds, tokens };
  const compared = { questions: texts, production: before, preview: after, budget, signal, concurrency };
  if (offersSame(before, after))
    return reportOf(await compareToolChoices({ ...compared, ask: neverAsked }), redaction, null);
  if (model === null) return noneAsked(texts, noModel);
  const { projectId } = production.build;
  const { name, tokensPerDay } = model;
  const use = await countUseOfCheck(ctx, { organizationId, projectId, model: name, tokensPerDay });
  if ("refusal" in use) return noneAsked(texts, use.refusal);
  const found = await compareToolChoices({
    ...compared,
    ask: async (question, tools, ended) => {
      const { inputTokens, outputTokens, ...answer } = await model.choose({ question, tools }, ended);
      await recordUseOfCheck(ctx, use.useId, { inputTokens, outputTokens });
      return { ...answer, tokens: inputTokens + outputTokens };
    },
  });
  return reportOf(found, redaction, name);
}

/** Null: they aren't known. */
function toolsOf({ build: { manifest } }: LiveVersion, redaction: Redaction): readonly OfferedTool[] | null {
  const tools = readManifest(manifest)?.tools.map(({ tool_name: name, title, description, inputSchema }) => ({
    name,
    description: description ?? title ?? undefined,
    inputSchema: inputSchema as OfferedTool["inputSchema"],
  }));
  return tools ? redaction.values(tools) : null;
}

const neverAsked = () => Promise.reject(new Error("Equal lists of tools cost no question."));

function reportOf(found: ChoiceReport, redaction: Redaction, model: string | null): QuestionReport {
  const shown = (choice: ToolChoice | null) => {
    if (choice === null) return null;
    const given = choice.arguments && JSON.stringify(redaction.withoutSecrets(choice.arguments));
    return { tool: choice.tool, arguments: given && cut(given) };
  };
  const questions = found.questions.map((each) => ({
    ...each,
    production: shown(each.production),
    preview: shown(each.preview),
  }));
  return { ...found, model, questions };
}

const cut = (text: string) => (text.length <= maxArguments ? text : `${text.slice(0, maxArguments)}…`);

const noneAsked = (texts: readonly string[], text: string): QuestionReport => ({
  verdict: "inconclusive",
  model: null,
  seconds: 0,
  calls: 0,
  tokens: 0,
  questions: texts.map((question) => ({ question, state: "not-asked", production: null, preview: null, text })),
});

const noModel = "No model is configured. The operator of this instance can set TOWPATH_CHAT_MODELS for the worker.";
const unknownTools = "Towpath doesn't know which tools one of the versions offers. Build it again.";
const tooLarge = "The server's environment variables are too large for Towpath to hide their values from a model.";
