import type { IncomingMessage, ServerResponse } from "node:http";
import { isIP } from "node:net";
import { isLoopbackAddress } from "@towpath/egress";
import { plainAddress } from "@towpath/limits";
import { isLoopbackName } from "../route/server-address.ts";

const front = `This is a Towpath gateway: it serves MCP servers.
A server's address ends in /mcp; the dashboard shows it.
`;

/** State of one process. `database`: whether it could load the routes at the last attempt. */
export type Health = { ok: boolean; routes: number; database: boolean };

/** Combined from all processes that share the port. */
type Sources = {
  health: () => Promise<readonly Health[]>;
  /** In Prometheus' text format. */
  metrics: () => Promise<string>;
  /** Whether a host name leads to a server. */
  isServed: (hostName: string) => Promise<boolean>;
};

const certificatePath = "/-/certificate?domain=";

/**
 * The gateway's own pages: `/`, `/-/healthz` (200 once routes are known, 503 before) and, for requests from this
 * machine that didn't come through a proxy, `/-/metrics` and `/-/certificate?domain=…`, by which Caddy asks whether to
 * fetch a certificate for a name (OPS-12). They are below `/-/`, which no server's label can be. Anyone may request the
 * health: concurrent requests share one round of answers, and it excludes metrics, which cost each process a
 * millisecond.
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
    if (path.startsWith(certificatePath) && isFromThisMachine(request)) {
      const [domain = ""] = new URLSearchParams(path.slice(path.indexOf("?"))).getAll("domain");
      if (await sources.isServed(domain)) return reply(200, "text/plain", "This name leads to a server.\n");
    }
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

/** The process that knows least counts: any of them may get the next request. */
function mergedHealth(health: readonly Health[]) {
  return {
    ok: health.every(({ ok }) => ok),
    routes: Math.min(...health.map(({ routes }) => routes)),
    database: health.every(({ database }) => database),
    workers: health.length,
  };
}

function isFromThisMachine({ headers, socket }: IncomingMessage): boolean {
  const proxied = headers.forwarded !== undefined || headers["x-forwarded-for"] !== undefined;
  return !proxied && isLoopbackAddress(plainAddress(socket.remoteAddress ?? "")) && isNeutral(headers.host);
}

/** No name that others have lead here, by which a page in this machine's browser would read what it serves. */
function isNeutral(host = ""): boolean {
  if (!URL.canParse(`http://${host}`)) return false;
  const { hostname } = new URL(`http://${host}`);
  return isLoopbackName(hostname) || isIP(hostname.replace(/^\[|\]$/g, "")) !== 0;
}
