export { type ModelReply, type ModelRequest, type ModelServer, openAiModel } from "./model-servers.ts";
export { manifestOf, modernTools, type RunningToolServer } from "./tool-servers.ts";
