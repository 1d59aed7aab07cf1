import type { AuthMode } from "@towpath/core/project/schema";

export type ConnectCommand = {
  readonly id: "claude-code" | "cursor" | "vscode" | "curl" | "python" | "typescript" | "inspector";
  readonly label: string;
  /** Where the snippet goes. */
  readonly place: string;
  readonly code: string;
};

/** Placeholder for the user's own key. */
const placeholderKey = "YOUR_API_KEY";

const initialize = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "curl", version: "1" } },
});

/**
 * How to connect each client to a server. Only `towpath-cloud` servers need the header with an API key: passthrough
 * servers ask clients for credentials themselves.
 *
 * Names hold letters, digits and hyphens only (VAL-1) and URLs come from the operator's template, so that nothing can
 * break out of a quoted argument. `apiKey`: a key to show in the snippets instead of a placeholder.
 */
export function connectCommands(
  server: { name: string; url: string; authMode: AuthMode },
  apiKey: string = placeholderKey,
): ConnectCommand[] {
  const { name, url } = server;
  const keyed = server.authMode === "towpath-cloud";
  const headers = keyed ? { headers: { Authorization: `Bearer ${apiKey}` } } : {};
  const json = (value: unknown) => JSON.stringify(value, null, 2);
  return [
    {
      id: "claude-code",
      label: "Claude Code",
      place: "Run in a terminal",
      code: `claude mcp add --transport http ${name} ${url}${keyed ? ` \\\n  --header "Authorization: Bearer ${apiKey}"` : ""}`,
    },
    {
      id: "cursor",
      label: "Cursor",
      place: "Add to ~/.cursor/mcp.json, or to a project's .cursor/mcp.json",
      code: json({ mcpServers: { [name]: { url, ...headers } } }),
    },
    {
      id: "vscode",
      label: "VS Code",
      place: "Add to a workspace's .vscode/mcp.json",
      code: json({ servers: { [name]: { type: "http", url, ...headers } } }),
    },
    {
      id: "curl",
      label: "curl",
      place: "Run in a terminal; the server answers with its name and version",
      code: [
        `curl ${url}`,
        ...(keyed ? [`  -H "Authorization: Bearer ${apiKey}"`] : []),
        '  -H "Content-Type: application/json" -H "Accept: application/json, text/event-stream"',
        `  -d '${initialize}'`,
      ].join(" \\\n"),
    },
    { id: "python", label: "Python", place: "pip install fastmcp", code: pythonSnippet(url, keyed ? apiKey : null) },
    {
      id: "typescript",
      label: "TypeScript",
      place: "npm install @modelcontextprotocol/client",
      code: typescriptSnippet(url, keyed ? apiKey : null),
    },
    {
      id: "inspector",
      label: "Inspector CLI",
      place: "Run in a terminal; needs Node",
      code: `npx @modelcontextprotocol/inspector --cli ${url} --transport http --method tools/list${
        keyed ? ` \\\n  --header "Authorization: Bearer ${apiKey}"` : ""
      }`,
    },
  ];
}

function pythonSnippet(url: string, apiKey: string | null): string {
  return `import asyncio
from fastmcp import Client

async def main():
    async with Client("${url}"${apiKey ? `, auth="${apiKey}"` : ""}) as client:
        print(await client.list_tools())

asyncio.run(main())`;
}

function typescriptSnippet(url: string, apiKey: string | null): string {
  const options = apiKey ? `, {\n  requestInit: { headers: { Authorization: "Bearer ${apiKey}" } },\n}` : "";
  return `import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const client = new Client({ name: "my-app", version: "1.0.0" });
await client.connect(new StreamableHTTPClientTransport(new URL("${url}")${options}));
console.log(await client.listTools());`;
}
