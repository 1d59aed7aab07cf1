import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll } from "vitest";

const tools = ["forecast", "radar"].map((name) => ({
  name,
  description: `Answers with the ${name} of a place.`,
  inputSchema: { type: "object", properties: { place: { type: "string" } }, required: ["place"] },
}));

const results: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "weather", version: "2.1.0" },
  },
  "tools/list": { tools },
};

export type ServerElsewhere = {
  readonly url: string;
  /** The required token; null: none. */
  token: string | null;
  /** Answers everything with 503. */
  isDown: boolean;
};

/** An MCP server on a port of this machine that requires a token, for all tests of a file. */
export function openServerElsewhere(): ServerElsewhere {
  let port = 0;
  const elsewhere: ServerElsewhere = {
    get url() {
      return `http://127.0.0.1:${port}/mcp`;
    },
    token: null,
    isDown: false,
  };
  const statusFor = (request: IncomingMessage): number => {
    if (elsewhere.isDown) return 503;
    if (elsewhere.token !== null && request.headers.authorization !== `Bearer ${elsewhere.token}`) return 401;
    return request.method === "POST" ? 200 : 405;
  };
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const status = statusFor(request);
    if (status !== 200) return void response.writeHead(status).end();
    const { id, method } = JSON.parse(body) as { id?: number; method: string };
    if (id === undefined) return void response.writeHead(202).end();
    const result = results[method];
    const answer = result ? { result } : { error: { code: -32601, message: "Method not found" } };
    response
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
  });
  beforeAll(async () => {
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    port = (server.address() as AddressInfo).port;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return elsewhere;
}
