export { McpClientError } from "./errors.ts";
export { type Elicitation, type ElicitationAnswer, type McpClient, openClient } from "./open-client.ts";
export { type ListName, type ReadManifest, type ReadManifestOptions, readManifest } from "./read-manifest.ts";
export { type Recording, recordAnswers } from "./record-answers.ts";
export type { McpTarget } from "./target.ts";
