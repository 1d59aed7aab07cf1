import { type McpClient, type OpenConnection, type OpenOptions, openConnection } from "./open-connection.ts";
import { connectTarget, type McpTarget } from "./target.ts";

const defaultMaxBytes = 32 * 1024 * 1024;

/** Opens a connection with the library's client, for reading lists. @throws McpClientError */
export const openTarget = (target: McpTarget, options: OpenOptions): Promise<OpenConnection> =>
  openConnection(connectTarget(target, options.maxBytes ?? defaultMaxBytes), target.headers ?? {}, options);

/**
 * Connects to an MCP endpoint of either era.
 *
 * @throws McpClientError
 */
export async function openClient(target: McpTarget, options: OpenOptions = {}): Promise<McpClient> {
  const { client: _client, guard: _guard, ...publicPart } = await openTarget(target, options);
  return publicPart;
}
