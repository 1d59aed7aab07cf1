import { inQuotes, quoted, shellWord } from "@towpath/mcp/connect";
import type { ServerCall } from "../server-call.ts";

export type SnippetInput = {
  /** The server's MCP endpoint. */
  readonly url: string;
  readonly call: ServerCall;
  /** The server's last protocol version, which determines the era. */
  readonly protocolVersion: string;
  /** The environment variable with the caller's key or token; null for an open server. */
  readonly keyVariable: string | null;
};

const client = { name: "curl", version: "1" };
const meta = "io.modelcontextprotocol/";
const firstModernVersion = "2026-07-28";

const methods = { tool: "tools/call", resource: "resources/read", prompt: "prompts/get" } as const;
const paramsOf = (call: ServerCall) =>
  call.kind === "resource" ? { uri: call.uri } : { name: call.name, arguments: call.arguments };

/** The call as commands for a POSIX shell. An older server needs a session first. */
export function curlSnippet({ url, call, protocolVersion, keyVariable }: SnippetInput): string {
  const post = (headers: readonly string[], message: object, options = "-sN") =>
    [
      `curl ${options} ${shellWord(url)}`,
      ...(keyVariable ? [`  -H "Authorization: Bearer $${keyVariable}"`] : []),
      '  -H "Content-Type: application/json" -H "Accept: application/json, text/event-stream"',
      ...headers.map((header) => `  -H ${header}`),
      `  -d ${singleQuoted(JSON.stringify({ jsonrpc: "2.0", ...message }))}`,
    ].join(" \\\n");
  const method = methods[call.kind];
  const version = `"MCP-Protocol-Version: ${protocolVersion}"`;
  if (protocolVersion >= firstModernVersion) {
    const name = call.kind === "resource" ? call.uri : call.name;
    const _meta = {
      [`${meta}protocolVersion`]: protocolVersion,
      [`${meta}clientInfo`]: client,
      [`${meta}clientCapabilities`]: {},
    };
    const headers = [version, `"Mcp-Method: ${method}"`, inQuotes(`Mcp-Name: ${headerText(name)}`)];
    return post(headers, { id: 1, method, params: { ...paramsOf(call), _meta } });
  }
  const initialize = { id: 1, method: "initialize", params: { protocolVersion, capabilities: {}, clientInfo: client } };
  const inSession = [version, '"Mcp-Session-Id: $SESSION"'];
  return [
    `SESSION=$(${post([], initialize, "-s -D - -o /dev/null")} |\n  tr -d '\\r' | awk 'tolower($1) == "mcp-session-id:" {print $2}')`,
    post(inSession, { method: "notifications/initialized" }),
    post(inSession, { id: 2, method, params: paramsOf(call) }),
  ].join("\n\n");
}

/** Always quoted, for any text. */
const singleQuoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** As 2026-07-28 writes values in headers that aren't plain ASCII ("Value encoding"). */
function headerText(text: string): string {
  if (/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text)) return text;
  const bytes = Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join("");
  return `=?base64?${btoa(bytes)}?=`;
}

/** The call with FastMCP's client. */
export function pythonSnippet({ url, call, keyVariable }: SnippetInput): string {
  const auth = keyVariable ? `, auth=os.environ[${quoted(keyVariable)}]` : "";
  return `${keyVariable ? "import asyncio\nimport os\n" : "import asyncio\n"}
from fastmcp import Client


async def main():
    async with Client(${quoted(url)}${auth}) as client:
        result = await client.${pythonCall(call)}
        print(result)


asyncio.run(main())`;
}

function pythonCall(call: ServerCall): string {
  if (call.kind === "resource") return `read_resource(${quoted(call.uri)})`;
  const verb = call.kind === "tool" ? "call_tool" : "get_prompt";
  return `${verb}(${quoted(call.name)}, ${pythonValue(call.arguments)})`;
}

/** A JSON value as a Python literal. */
function pythonValue(value: unknown): string {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map(pythonValue).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, part]) => `${quoted(name)}: ${pythonValue(part)}`)
    .join(", ")}}`;
}

/** The call with the TypeScript SDK. */
export function typescriptSnippet({ url, call, keyVariable }: SnippetInput): string {
  const header = keyVariable
    ? `, {\n  requestInit: { headers: { Authorization: \`Bearer \${process.env.${keyVariable}}\` } },\n}`
    : "";
  const verb = { tool: "callTool", resource: "readResource", prompt: "getPrompt" }[call.kind];
  return `import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const client = new Client({ name: "my-app", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
await client.connect(new StreamableHTTPClientTransport(new URL(${quoted(url)})${header}));
console.log(await client.${verb}(${JSON.stringify(paramsOf(call), null, 2)}));
await client.close();`;
}
