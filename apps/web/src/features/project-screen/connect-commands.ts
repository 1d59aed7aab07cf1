import type { AuthMode } from "@towpath/core/project/schema";

export type ConnectCommand = {
  readonly id: "claude-code" | "cursor" | "vscode" | "python" | "typescript" | "inspector";
  readonly label: string;
  /** Where the text goes. */
  readonly place: string;
  readonly code: string;
};

/** Stands for the reader's own key in every snippet. */
const placeholderKey = "YOUR_API_KEY";

/**
 * How to connect each client to a server. `towpath-cloud` servers get the header with an API key; the others are
 * called as they are: passthrough servers ask for what they need by themselves.
 *
 * Names hold letters, digits and hyphens only (VAL-1) and URLs come from the operator's template, so that nothing here
 * can break out of a quoted argument.
 */
export function connectCommands(server: { name: string; url: string; authMode: AuthMode }): ConnectCommand[] {
  const { name, url } = server;
  const keyed = server.authMode === "towpath-cloud";
  const headers = keyed ? { headers: { Authorization: `Bearer ${placeholderKey}` } } : {};
  const json = (value: unknown) => JSON.stringify(value, null, 2);
  return [
    {
      id: "claude-code",
      label: "Claude Code",
      place: "Run in a terminal",
      code: `claude mcp add --transport http ${name} ${url}${keyed ? ` \\\n  --header "Authorization: Bearer ${placeholderKey}"` : ""}`,
    },
    {
      id: "cursor",
      label: "Cursor",
      place: "Put into ~/.cursor/mcp.json, or .cursor/mcp.json of a project",
      code: json({ mcpServers: { [name]: { url, ...headers } } }),
    },
    {
      id: "vscode",
      label: "VS Code",
      place: "Put into .vscode/mcp.json of a workspace",
      code: json({ servers: { [name]: { type: "http", url, ...headers } } }),
    },
    { id: "python", label: "Python", place: "pip install fastmcp", code: pythonSnippet(url, keyed) },
    {
      id: "typescript",
      label: "TypeScript",
      place: "npm install @modelcontextprotocol/client",
      code: typescriptSnippet(url, keyed),
    },
    {
      id: "inspector",
      label: "Inspector CLI",
      place: "Run in a terminal; needs Node",
      code: `npx @modelcontextprotocol/inspector --cli ${url} --transport http --method tools/list${
        keyed ? ` \\\n  --header "Authorization: Bearer ${placeholderKey}"` : ""
      }`,
    },
  ];
}

function pythonSnippet(url: string, keyed: boolean): string {
  return `import asyncio
from fastmcp import Client

async def main():
    async with Client("${url}"${keyed ? `, auth="${placeholderKey}"` : ""}) as client:
        print(await client.list_tools())

asyncio.run(main())`;
}

function typescriptSnippet(url: string, keyed: boolean): string {
  const options = keyed ? `, {\n  requestInit: { headers: { Authorization: "Bearer ${placeholderKey}" } },\n}` : "";
  return `import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const client = new Client({ name: "my-app", version: "1.0.0" });
await client.connect(new StreamableHTTPClientTransport(new URL("${url}")${options}));
console.log(await client.listTools());`;
}
