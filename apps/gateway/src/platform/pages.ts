import type { IncomingMessage, ServerResponse } from "node:http";
import { isLoopback, plainAddress } from "../police/connections.ts";

const front = `This is a Towpath gateway: it serves MCP servers.
The address of a server ends in /mcp and is shown in the dashboard.
`;

/**
 * The gateway's own pages: `/`, `/-/healthz` (200 as soon as routes are known, 503 before) and `/-/metrics` (asked
 * from this machine and not through a proxy only). They live under `/-/`, which no server's label can be.
 */
export function createPages(parts: {
  health: () => { ok: boolean; detail: Record<string, unknown> };
  metrics: () => string;
}): (request: IncomingMessage, response: ServerResponse, path: string) => void {
  return (request, response, path) => {
    const reply = (status: number, type: string, text: string) => {
      response.writeHead(status, {
        "content-type": `${type}; charset=utf-8`,
        "content-length": Buffer.byteLength(text),
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
      });
      response.end(request.method === "HEAD" ? undefined : text);
      request.resume();
    };
    switch (path) {
      case "/":
        return reply(200, "text/plain", front);
      case "/-/healthz": {
        const { ok, detail } = parts.health();
        return reply(ok ? 200 : 503, "application/json", `${JSON.stringify({ ok, ...detail })}\n`);
      }
      case "/-/metrics":
        if (isFromThisMachine(request)) return reply(200, "text/plain; version=0.0.4", parts.metrics());
        break;
    }
    reply(404, "text/plain", "Nothing is served here.\n");
  };
}

function isFromThisMachine(request: IncomingMessage): boolean {
  const proxied = request.headers.forwarded !== undefined || request.headers["x-forwarded-for"] !== undefined;
  return !proxied && isLoopback(plainAddress(request.socket.remoteAddress ?? ""));
}
