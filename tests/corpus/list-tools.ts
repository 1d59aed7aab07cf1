import type { Client } from "@modelcontextprotocol/sdk/client/index.js";

/** Names of all tools, in order of the alphabet; none for a server that doesn't offer any. */
export async function listTools(client: Client, timeout: number): Promise<string[]> {
  if (client.getServerCapabilities()?.tools === undefined) return [];
  const names: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.listTools(cursor === undefined ? {} : { cursor }, { timeout });
    names.push(...page.tools.map(({ name }) => name));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return names.sort();
}
