export { McpClientError, type McpClientErrorCode, mcpClientErrorCodes } from "./errors.ts";
export { type CallOptions, type CallOutcome, type McpClient, type OpenOptions, openClient } from "./open-client.ts";
export { type ListName, type ReadManifest, type ReadManifestOptions, readManifest } from "./read-manifest.ts";
export type { McpTarget } from "./target.ts";
