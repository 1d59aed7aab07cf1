import { type ModelReply, type ModelRequest, type ModelServer, openAiModel } from "@towpath/chat/testing";

/** The question of the picture. */
export const question = "Can a boat of 14 m stay in Leiden tonight?";

/** A model behind a real HTTP server, for the picture of the chat: it looks up level and moorings, and answers. */
export const startWaterwaysModel = (): Promise<ModelServer> => openAiModel(answerTo);

const proposals = [
  "Can a boat of 14 m stay in Leiden tonight?",
  "Is the Juliana lock open?",
  "How high is the water in Gouda?",
];
const calls = [
  { id: "call-level", name: "water_level", arguments: JSON.stringify({ gauge: "Leiden", hours: 6 }) },
  { id: "call-moorings", name: "find_moorings", arguments: JSON.stringify({ near: "Leiden", length: 14 }) },
];

function answerTo({ body }: ModelRequest): ModelReply {
  if (!body.messages.some(({ content }) => JSON.stringify(content).includes(question)))
    return { text: [JSON.stringify(proposals)] };
  if (body.messages.at(-1)?.role !== "tool") return { calls };
  return { text: ["Yes. **Haven** has room for 15 m, and the level at Leiden stays between 42 and 44 cm tonight."] };
}
