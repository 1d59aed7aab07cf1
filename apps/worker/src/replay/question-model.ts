import type { ChatModel } from "@towpath/chat";
import type { QuestionModel } from "@towpath/core/delivery/replay";
import type { JsonObject } from "@towpath/replay";

/** The first of the instance's models, which also suggests questions; null: none is configured. */
export function questionModelOf(chat: {
  readonly models: readonly ChatModel[];
  readonly tokensPerDay: number;
}): QuestionModel | null {
  const [model] = chat.models;
  if (model === undefined) return null;
  return {
    name: model.name,
    tokensPerDay: chat.tokensPerDay,
    async choose(asked, signal) {
      // Most workers never ask a model.
      const { chooseTool } = await import("@towpath/chat");
      const answer = await chooseTool(model, asked, signal);
      return "problem" in answer ? answer : { ...answer, arguments: answer.arguments as JsonObject | null };
    },
  };
}
