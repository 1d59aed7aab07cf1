import type { ClientGuide, GuideInput } from "./guide-types.ts";
import { inQuotes, quoted, shellWord } from "./quoting.ts";

const initialize = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "curl", version: "1" } },
});

/** For programs, and for trying it from a terminal. */
export function codeGuides(input: GuideInput): ClientGuide[] {
  const guide = (id: string, label: string, place: string, code: string): ClientGuide => ({
    id,
    label,
    link: null,
    steps: [],
    snippet: { place, code },
    note: null,
  });
  return [
    guide("python", "Python", "With `pip install fastmcp`:", python(input)),
    guide("typescript", "TypeScript", "With `npm install @modelcontextprotocol/client`:", typescript(input)),
    guide("inspector", "Inspector CLI", "Run in a terminal; needs Node:", inspector(input)),
    guide("curl", "curl", "Run in a terminal; the server answers with its name and version:", curl(input)),
  ];
}

function python({ url, access, key }: GuideInput): string {
  const auth = { open: "", "sign-in": `, auth="oauth"`, key: `, auth=${quoted(key ?? "")}` }[access.way];
  return `import asyncio
from fastmcp import Client

async def main():
    async with Client(${quoted(url)}${auth}) as client:
        print(await client.list_tools())

asyncio.run(main())`;
}

function typescript({ url, key }: GuideInput): string {
  const options = key ? `, {\n  requestInit: { headers: { Authorization: ${quoted(`Bearer ${key}`)} } },\n}` : "";
  return `import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const client = new Client({ name: "my-app", version: "1.0.0" });
await client.connect(new StreamableHTTPClientTransport(new URL(${quoted(url)})${options}));
console.log(await client.listTools());`;
}

function inspector({ url, headers }: GuideInput): string {
  const header = headers ? ` \\\n  --header ${inQuotes(`Authorization: ${headers.Authorization}`)}` : "";
  return `npx @modelcontextprotocol/inspector --cli ${shellWord(url)} --transport http --method tools/list${header}`;
}

function curl({ url, key }: GuideInput): string {
  return [
    `curl ${shellWord(url)}`,
    ...(key ? [`  -H ${inQuotes(`Authorization: Bearer ${key}`)}`] : []),
    '  -H "Content-Type: application/json" -H "Accept: application/json, text/event-stream"',
    `  -d '${initialize}'`,
  ].join(" \\\n");
}
