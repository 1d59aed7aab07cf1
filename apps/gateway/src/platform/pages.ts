import type { IncomingMessage, ServerResponse } from "node:http";
import { isLoopbackAddress } from "@towpath/egress";
import { plainAddress } from "@towpath/limits";

const front = `This is a Towpath gateway: it serves MCP servers.
A server's address ends in /mcp; the dashboard shows it.
`;

/** How one process is. `database`: whether it could load the routes the last time it tried. */
export type Health = { ok: boolean; routes: number; database: boolean };

/** What all processes that share the port say. */
type Sources = {
  health: () => Promise<readonly Health[]>;
  /** In Prometheus' text format. */
  metrics: () => Promise<string>;
};

/**
 * The gateway's own pages: `/`, `/-/healthz` (200 as soon as routes are known, 503 before) and `/-/metrics` (asked
 * from this machine and not through a proxy only). They live under `/-/`, which no server's label can be. Anyone may ask
 * for the health: requests that come while all processes are being asked share the answer, and metrics, which cost
 * each process a millisecond, are no part of it.
 */
export function createPages(
  sources: Sources,
): (request: IncomingMessage, response: ServerResponse, path: string) => Promise<void> {
  let asking: Promise<readonly Health[]> | null = null;
  const health = () => {
    asking ??= sources.health().finally(() => {
      asking = null;
    });
    return asking;
  };
  return async (request, response, path) => {
    const reply = (status: number, type: string, text: string) => {
      response.writeHead(status, {
        "content-type": `${type}; charset=utf-8`,
        "content-length": Buffer.byteLength(text),
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
      });
      response.end(request.method === "HEAD" ? undefined : text);
    };
    request.resume();
    switch (path) {
      case "/":
        return reply(200, "text/plain", front);
      case "/-/healthz": {
        const merged = mergedHealth(await health());
        return reply(merged.ok ? 200 : 503, "application/json", `${JSON.stringify(merged)}\n`);
      }
      case "/-/metrics": {
        if (!isFromThisMachine(request)) break;
        return reply(200, "text/plain; version=0.0.4", await sources.metrics());
      }
    }
    reply(404, "text/plain", "Nothing is served here.\n");
  };
}

/** Of several processes the one that knows least counts: any of them may get the next request. */
function mergedHealth(health: readonly Health[]) {
  return {
    ok: health.every(({ ok }) => ok),
    routes: Math.min(...health.map(({ routes }) => routes)),
    database: health.every(({ database }) => database),
    workers: health.length,
  };
}

function isFromThisMachine(request: IncomingMessage): boolean {
  const proxied = request.headers.forwarded !== undefined || request.headers["x-forwarded-for"] !== undefined;
  return !proxied && isLoopbackAddress(plainAddress(request.socket.remoteAddress ?? ""));
}
