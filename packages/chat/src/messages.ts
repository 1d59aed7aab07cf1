import type { ChatPart, ChatToolPart } from "@towpath/core/calling/chat/schema";
import type { ModelMessage, ToolResultPart } from "ai";
import { outputForModel } from "./tool-result.ts";
import type { ToolNames } from "./tools.ts";

/** A question for the model, with the person's attachments. */
export type Question = { readonly text: string; readonly attached: readonly string[] };

export const questionMessage = ({ text, attached }: Question): ModelMessage => ({
  role: "user",
  content: [...attached, text].join("\n\n"),
});

/** The answer to an earlier question, as messages: texts, calls of tools and their results, in order. */
export function answerMessages(
  parts: readonly ChatPart[],
  { names, images }: { readonly names: ToolNames; readonly images: boolean },
): ModelMessage[] {
  return stepsOf(parts).flatMap(({ text, tools }): ModelMessage[] => {
    if (text === "" && tools.length === 0) return [];
    const calls = tools.map((part) => ({
      type: "tool-call" as const,
      toolCallId: part.id,
      toolName: names.forModel(part.tool),
      input: part.arguments,
    }));
    const content = [...(text === "" ? [] : [{ type: "text" as const, text }]), ...calls];
    const answer: ModelMessage = { role: "assistant", content };
    return tools.length === 0
      ? [answer]
      : [answer, { role: "tool", content: tools.map((part) => toolResult(part, names, images)) }];
  });
}

/** A call's result or error for the model. */
export function toolResult(part: ChatToolPart, names: ToolNames, images: boolean): ToolResultPart {
  const common = { type: "tool-result" as const, toolCallId: part.id, toolName: names.forModel(part.tool) };
  if (part.result !== null) return { ...common, output: outputForModel(part.result, images) };
  const value =
    part.status === "denied" ? "The person didn't allow this call." : (part.error ?? "The call was stopped.");
  return { ...common, output: { type: "error-text", value } };
}

/** Steps of the model: text, then calls. Text after calls begins the next step. */
function stepsOf(parts: readonly ChatPart[]) {
  const steps: { text: string; tools: ChatToolPart[] }[] = [];
  for (const part of parts) {
    let step = steps.at(-1);
    if (!step || (part.kind === "text" && step.tools.length > 0)) {
      step = { text: "", tools: [] };
      steps.push(step);
    }
    if (part.kind === "text") step.text += part.text;
    else step.tools.push(part);
  }
  return steps;
}
