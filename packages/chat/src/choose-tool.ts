import type { ChatModel } from "./config.ts";
import { problemOfModel } from "./model-errors.ts";
import { askModel, type Usage } from "./model-step.ts";
import { toolsForModel } from "./tools.ts";

/** A tool as a server's list offers it. */
type OfferedTool = {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema: Readonly<Record<string, unknown>>;
};

/** `tool`: null where the model answered without any. */
type Choice = { readonly tool: string | null; readonly arguments: Readonly<Record<string, unknown>> | null };

const instructions =
  "You answer with the tools of an MCP server. Call the tool that fits the question best, with the arguments that follow " +
  "from the question. If none fits, call none and say so in one sentence. You can't ask back.";

/** About how many characters a token has, for models that don't count. */
const charactersOfToken = 4;

/**
 * Asks a model which tool it would call first for a question, and with which arguments (CAP-4). No tool is called.
 *
 * @throws an Error whose message says what happened and what to do about it, for people; it never holds the key
 */
export async function chooseTool(
  model: ChatModel,
  { question, tools }: { readonly question: string; readonly tools: readonly OfferedTool[] },
  signal: AbortSignal,
): Promise<Choice & Usage> {
  const { set, names } = toolsForModel(
    tools.map(({ name, description, inputSchema }) => ({
      tool_name: name,
      title: null,
      description: description ?? null,
      inputSchema,
    })),
  );
  let used: Usage = { inputTokens: 0, outputTokens: 0 };
  const { calls, isCut } = await askModel({
    model,
    instructions,
    messages: [{ role: "user", content: question }],
    tools: set,
    signal,
    onText: () => {},
    onUsage: (usage) => {
      used = usage;
    },
  }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw new Error(messageOf(error, model));
  });
  const [call] = calls;
  if (call === undefined && isCut) throw new Error(`${model.name} reached its maxOutputTokens before it chose.`);
  const sent = question.length + JSON.stringify(tools).length;
  return {
    tool: call === undefined ? null : (names.ofServer(call.name) ?? call.name),
    arguments: call?.arguments ?? null,
    inputTokens: used.inputTokens || Math.ceil(sent / charactersOfToken),
    outputTokens: used.outputTokens,
  };
}

function messageOf(error: unknown, model: ChatModel): string {
  const { code, message } = problemOfModel(error, model);
  return code === "context_too_long" ? `The tools and the question are longer than ${model.name} can read.` : message;
}
