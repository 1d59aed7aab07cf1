import type { ChatModel } from "./config.ts";
import { problemOfModel, wasRefused } from "./model-errors.ts";
import { askModel, type Usage } from "./model-step.ts";
import { toolsForModel } from "./tools.ts";

/** A tool as a server's list offers it. */
type OfferedTool = {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema: Readonly<Record<string, unknown>>;
};

/** `tool`: null where the model answered without any. `problem`: why its answer chose nothing, in words without the key. */
type Choice =
  | { readonly tool: string | null; readonly arguments: Readonly<Record<string, unknown>> | null }
  | { readonly problem: string };

const instructions =
  "You answer with the tools of an MCP server. Call the tool that fits the question best, with the arguments that follow " +
  "from the question. If none fits, call none and say so in one sentence. You can't ask back.";

/** About how many characters a token has, for models that don't count. */
const charactersOfToken = 4;

const nothing: Usage = { inputTokens: 0, outputTokens: 0 };

/**
 * Asks a model which tool it would call first for a question, and with which arguments (CAP-4). No tool is called. The tokens
 * are those of any answer, also of one that is cut off, breaks off or is ended, estimated where the model did not say them.
 *
 * @throws the signal's reason where it has aborted before
 */
export async function chooseTool(
  model: ChatModel,
  { question, tools }: { readonly question: string; readonly tools: readonly OfferedTool[] },
  signal: AbortSignal,
): Promise<Choice & Usage> {
  signal.throwIfAborted();
  const { set, names } = toolsForModel(
    tools.map(({ name, description, inputSchema }) => ({
      tool_name: name,
      title: null,
      description: description ?? null,
      inputSchema,
    })),
  );
  const sent = question.length + JSON.stringify(tools).length;
  let used = nothing;
  let written = 0;
  const cost = (): Usage => ({
    inputTokens: used.inputTokens || Math.ceil(sent / charactersOfToken),
    outputTokens: used.outputTokens || Math.ceil(written / charactersOfToken),
  });
  try {
    const { calls, isCut } = await askModel({
      model,
      instructions,
      messages: [{ role: "user", content: question }],
      tools: set,
      signal,
      onText: (text) => {
        written += text.length;
      },
      onUsage: (usage) => {
        used = usage;
      },
    });
    const [call] = calls;
    if (call !== undefined)
      return { tool: names.ofServer(call.name) ?? call.name, arguments: call.arguments, ...cost() };
    return isCut
      ? { problem: `${model.name} reached its maxOutputTokens before it chose.`, ...cost() }
      : { tool: null, arguments: null, ...cost() };
  } catch (error) {
    const problem = signal.aborted ? "The question was ended." : messageOf(error, model);
    return { problem, ...(wasRefused(error) ? nothing : cost()) };
  }
}

function messageOf(error: unknown, model: ChatModel): string {
  const { code, message } = problemOfModel(error, model);
  return code === "context_too_long" ? `The tools and the question are longer than ${model.name} can read.` : message;
}
