import type { IncomingMessage, ServerResponse } from "node:http";
import { isLoopback, plainAddress } from "../policy/connections.ts";
import { type MetricsSnapshot, mergedMetrics } from "./metrics.ts";

const front = `This is a Towpath gateway: it serves MCP servers.
The address of a server ends in /mcp and is shown in the dashboard.
`;

/** What one process says of itself. `database`: whether it could load the routes the last time it tried. */
export type Report = {
  health: { ok: boolean; routes: number; database: boolean };
  metrics: MetricsSnapshot;
};

/**
 * The gateway's own pages: `/`, `/-/healthz` (200 as soon as routes are known, 503 before) and `/-/metrics` (asked
 * from this machine and not through a proxy only). They live under `/-/`, which no server's label can be. `reports`
 * asks every process that shares the port; `runnerMetrics` is added to the metrics, empty without a runner.
 */
export function createPages(
  reports: () => Promise<Report[]>,
  runnerMetrics: () => Promise<string>,
): (request: IncomingMessage, response: ServerResponse, path: string) => Promise<void> {
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
        const health = mergedHealth(await reports());
        return reply(health.ok ? 200 : 503, "application/json", `${JSON.stringify(health)}\n`);
      }
      case "/-/metrics": {
        if (!isFromThisMachine(request)) break;
        const [all, runner] = await Promise.all([reports(), runnerMetrics()]);
        const own = await mergedMetrics(all.map(({ metrics }) => metrics));
        return reply(200, "text/plain; version=0.0.4", `${own.trimEnd()}\n${runner}`);
      }
    }
    reply(404, "text/plain", "Nothing is served here.\n");
  };
}

/** Of several processes the one that knows least counts: any of them may get the next request. */
function mergedHealth(reports: readonly Report[]) {
  const health = reports.map((report) => report.health);
  return {
    ok: health.every(({ ok }) => ok),
    routes: Math.min(...health.map(({ routes }) => routes)),
    database: health.every(({ database }) => database),
    workers: health.length,
  };
}

function isFromThisMachine(request: IncomingMessage): boolean {
  const proxied = request.headers.forwarded !== undefined || request.headers["x-forwarded-for"] !== undefined;
  return !proxied && isLoopback(plainAddress(request.socket.remoteAddress ?? ""));
}
