export { ReplyTimedOut } from "./call-tool.ts";
export { chooseTool } from "./choose-tool.ts";
export type { ChatModel } from "./config.ts";
export type { Question } from "./messages.ts";
export { runTurn } from "./run-turn.ts";
export { sampleByModel } from "./sample.ts";
export { suggestByModel, suggestFromTemplates } from "./suggest.ts";
export { ToolServer } from "./tool-server.ts";
