import { type ModelReply, type ModelRequest, type ModelServer, openAiModel } from "@towpath/chat/testing";

/**
 * A model behind a real HTTP server that calls the tool `echo` with the text after "Say", and quotes the result; after
 * "Choose", it calls the last tool of the list.
 */
export const startEchoingModel = (): Promise<ModelServer> => openAiModel(answerTo);

function answerTo({ body }: ModelRequest): ModelReply {
  const last = body.messages.at(-1);
  const content = String(last?.content ?? "");
  if (last?.role === "tool") return { text: ["The server ", "answered: ", content] };
  const [lastTool] = namesOf(body.tools).slice(-1);
  if (content.startsWith("Choose ") && lastTool !== undefined)
    return { calls: [{ id: "choice", name: lastTool, arguments: "{}" }] };
  const text = /^Say (.+)$/.exec(content)?.[1];
  if (text === undefined) return { text: ['["Say good morning"]'] };
  return { calls: [{ id: `call-${body.messages.length}`, name: "echo", arguments: JSON.stringify({ text }) }] };
}

const namesOf = (tools: ModelRequest["body"]["tools"] = []) =>
  (tools as readonly { readonly function: { readonly name: string } }[]).map(({ function: { name } }) => name);
