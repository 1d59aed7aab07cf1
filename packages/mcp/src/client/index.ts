export type { Elicitation, ElicitationAnswer } from "./asked.ts";
export { CallDeadline } from "./call-deadline.ts";
export { McpClientError } from "./errors.ts";
export { openClient } from "./open-client.ts";
export type { McpClient } from "./open-connection.ts";
export { type ListName, type ReadManifest, type ReadManifestOptions, readManifest } from "./read-manifest.ts";
export { type Recording, recordAnswers } from "./record-answers.ts";
export type { McpTarget } from "./target.ts";
