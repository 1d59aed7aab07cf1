/** Headers and body of one `tools/call` of MCP 2026-07-28, for callers that are not clients. */
export function modernCall(tool: string, args: Readonly<Record<string, unknown>>, clientName: string) {
  const protocolVersion = "2026-07-28";
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": protocolVersion,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": { name: clientName, version: "1.0.0" },
  };
  return {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": protocolVersion,
      "mcp-method": "tools/call",
      "mcp-name": tool,
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: tool, arguments: args, _meta },
    }),
  } as const;
}
