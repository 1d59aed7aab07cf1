import { Readable } from "node:stream";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CreateTaskResultSchema, ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { dataOf, eventsIn, type Message } from "../portal/messages-in.ts";

/** A client of 2025-11-25, which answers questions with a name and the beginning of the task's id. */
export async function connectAnswering(url: URL, headers: Record<string, string>): Promise<Client> {
  const client = new Client({ name: "c", version: "1" }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
    const { _meta } = params as { _meta?: Record<string, { taskId?: string }> };
    return {
      action: "accept",
      content: { name: `Ada ${_meta?.["io.modelcontextprotocol/related-task"]?.taskId?.slice(0, 3)}` },
    };
  });
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  return client;
}

type Options = { readonly ttl?: number; readonly amount?: number };

/** Calls a tool as a task. */
export const createTask = (client: Client, name: string, { ttl, amount = 1 }: Options = {}) =>
  client.request(
    { method: "tools/call", params: { name, arguments: { amount }, task: ttl === undefined ? {} : { ttl } } },
    CreateTaskResultSchema,
  );

/** Subscribes to tasks of 2026-07-28: `next` reads one message, `close` disconnects. */
export async function listenForTasks(url: URL, who: Record<string, string>, taskIds: readonly string[]) {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": { extensions: { "io.modelcontextprotocol/tasks": {} } },
  };
  const method = "subscriptions/listen";
  const answer = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...who,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 3, method, params: { notifications: { taskIds }, _meta } }),
  });
  const events = eventsIn(Readable.fromWeb(answer.body as never));
  const next = async (): Promise<Message> => {
    const { value, done } = await events.next();
    if (done) throw new Error("the stream ended");
    const data = dataOf(value);
    // Comments keep the connection open.
    return data === "" ? next() : JSON.parse(data);
  };
  return { next, close: () => events.return(undefined) };
}
