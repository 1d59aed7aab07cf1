import { randomUUID } from "node:crypto";
import type { RequestListener, ServerResponse } from "node:http";
import { json as readJson } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { storeApiKey } from "./clients.ts";
import { addPortal, storeManifest } from "./portal.ts";
import { type DeployedServer, type Rig, until } from "./rig.ts";
import { createTaskListener } from "./task-server.ts";

type Params = {
  name?: string;
  arguments?: { key?: string; also?: string };
  task?: unknown;
  inputResponses?: Answers;
  requestState?: string;
};
type Answers = Record<string, { content?: { name?: string } }>;
type Asked = {
  id?: number | string;
  method?: string;
  params?: Params & { requestId?: unknown; protocolVersion?: string };
  result?: { content?: { name?: string } };
};

/** A server of both eras that knows nothing of tasks, and counts what it runs. */
type TasklessServer = {
  readonly listener: RequestListener;
  /** The parameters of each call, in order. */
  readonly runs: Params[];
  /** Request ids that were canceled, and calls whose connection closed before they were answered. */
  readonly canceled: unknown[];
  readonly closed: unknown[];
  /** Answers the calls of `work` that wait. */
  release: () => void;
  /** The events behind which streams were resumed. */
  readonly resumed: string[];
  /** The streams for unsolicited messages that are open, of both eras. */
  readonly streams: readonly ServerResponse[];
};

const question = {
  method: "elicitation/create",
  params: { message: "Who?", requestedSchema: { type: "object", properties: { name: { type: "string" } } } },
};

/**
 * Tools: `quick` answers at once; `work` once it is released; `fail` and `break` so, with a tool's error and a broken
 * connection; `ask` asks for a name: in 2026-07-28 after a while, twice, as the question `key`, and `also`. Unlisted: `flood` asks 101
 * times at once, `twice` two times, `late` once it is released, `resumed` ends its stream when it is
 * released, to be resumed twice, and answers when it is released again, `packed` begins a stream that says it is compressed, and ends it when it is released.
 */
export function createTasklessServer(): TasklessServer {
  const waiting: (() => void)[] = [];
  const questions = new Map<unknown, (name: string) => void>();
  const runs: Params[] = [];
  const canceled: unknown[] = [];
  const closed: unknown[] = [];
  const streams: ServerResponse[] = [];
  const resumed: string[] = [];
  const resumable = new Map<string, Asked>();
  const tools = ["quick", "work", "fail", "break", "ask"].map((name) => ({ name, inputSchema: { type: "object" } }));
  const text = (value: string) => ({ content: [{ type: "text", text: value }] });

  const listener: RequestListener = async (request, response) => {
    const lastEventId = request.headers["last-event-id"];
    if (request.method === "GET" && typeof lastEventId === "string") return resume(response, lastEventId);
    if (request.method === "GET") return openStream(response, ": open\n\n");
    if (request.method !== "POST") return void response.writeHead(405).end();
    const asked = (await readJson(request)) as Asked;
    const isModern = String(request.headers["mcp-protocol-version"] ?? "") >= "2026-07-28";
    const { method, params = {} } = asked;
    const answer = (result: object) =>
      answerJson(response, asked, isModern ? { resultType: "complete", ...result } : result);
    switch (method) {
      case "initialize": {
        response.setHeader("mcp-session-id", randomUUID());
        const { protocolVersion } = params;
        return answer({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "plain", version: "1" } });
      }
      case "server/discover":
        return answer({
          supportedVersions: ["2026-07-28"],
          capabilities: { tools: {} },
          ttlMs: 0,
          cacheScope: "private",
        });
      case "subscriptions/listen": {
        const _meta = { "io.modelcontextprotocol/subscriptionId": asked.id };
        const acknowledged = {
          method: "notifications/subscriptions/acknowledged",
          params: { notifications: {}, _meta },
        };
        return openStream(response, eventOf(acknowledged));
      }
      case "tools/list":
        return answer({ tools, ...(isModern && { ttlMs: 0, cacheScope: "private" }) });
      case "tools/call":
        runs.push(params);
        response.once("close", () => response.writableFinished || closed.push(params.arguments));
        if (params.name === "quick") return answer(text("quick"));
        if (params.name === "ask") return isModern ? askInRounds(params, answer) : askAtOnce(response, asked, 1);
        if (params.name === "flood") return askAtOnce(response, asked, 101);
        if (params.name === "twice") return askAtOnce(response, asked, 2);
        if (params.name === "resumed") {
          response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
          return void waiting.push(() => endEarly(response, asked, 1));
        }
        if (params.name === "late") {
          response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
          return void waiting.push(() => askAtOnce(response, asked, 1));
        }
        if (params.name === "packed") {
          response.writeHead(200, { "content-type": "text/event-stream", "content-encoding": "gzip" }).flushHeaders();
          return void waiting.push(() => response.end(gzipSync(eventOf({ id: asked.id, result: text("packed") }))));
        }
        return void waiting.push(() => {
          if (params.name === "break") response.destroy();
          else answer({ ...text(`run ${runs.indexOf(params) + 1}`), ...(params.name === "fail" && { isError: true }) });
        });
      case "notifications/cancelled":
        canceled.push(params.requestId);
        break;
      case undefined:
        questions.get(asked.id)?.(asked.result?.content?.name ?? "nobody");
    }
    response.writeHead(method?.startsWith("tasks/") ? 404 : 202).end();
  };

  function openStream(response: ServerResponse, first: string): void {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(first);
    streams.push(response);
    response.once("close", () => streams.splice(streams.indexOf(response), 1));
  }

  function endEarly(response: ServerResponse, asked: Asked, times: number): void {
    const eventId = `${randomUUID()}-${times}`;
    resumable.set(eventId, asked);
    // The next event has only begun.
    response.end(`id: ${eventId}\nretry: 200\ndata: \n\nid: none\ndata: {"method":`);
  }

  function resume(response: ServerResponse, eventId: string): void {
    resumed.push(eventId);
    const asked = resumable.get(eventId);
    if (!asked) return void response.writeHead(404).end();
    response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    const result = text(`run ${runs.indexOf(asked.params ?? {}) + 1}`);
    if (eventId.endsWith("-1")) endEarly(response, asked, 2);
    else waiting.push(() => response.end(`id: last\n${eventOf({ id: asked.id, result })}`));
  }

  function askInRounds(params: Params, answer: (result: object) => void): void {
    const { inputResponses, requestState, arguments: { key = "name", also } = {} } = params;
    const name = inputResponses && Object.hasOwn(inputResponses, key) ? inputResponses[key]?.content?.name : undefined;
    const state = name === undefined ? "first" : "second";
    const inputRequests = { [key]: question, ...(also !== undefined && { [also]: question }) };
    const asks = { resultType: "input_required", inputRequests, requestState: state };
    if (requestState === "second") answer(text(`It is ${name}.`));
    else setTimeout(answer, name === undefined ? 1000 : 0, asks);
  }

  function askAtOnce(response: ServerResponse, { id }: Asked, times: number): void {
    const questionId = randomUUID();
    const send = (message: object) => response.write(eventOf(message));
    if (!response.headersSent) response.writeHead(200, { "content-type": "text/event-stream" });
    for (let at = 1; at <= times; at++) send({ id: at === 1 ? questionId : `${questionId} ${at}`, ...question });
    questions.set(questionId, (name) => {
      send({ id, result: text(`It is ${name}.`) });
      response.end();
    });
  }
  return {
    listener,
    runs,
    canceled,
    closed,
    streams,
    resumed,
    release() {
      for (const each of waiting.splice(0)) each();
    },
  };
}

const eventOf = (message: object) => `event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`;

function answerJson(response: ServerResponse, { id }: Asked, result: object): void {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
}

/** Deploys such a server for callers with a key; returns a new caller's header with each `caller()`. */
export async function deployTaskless(rig: Rig) {
  const taskless = createTasklessServer();
  const server: DeployedServer = await rig.deploy(taskless.listener, { authMode: "towpath-cloud" });
  const caller = async () => (await storeApiKey(rig, server.organizationId)).bearer;
  return { server, taskless, caller };
}

/**
 * A portal of two such servers (`one_work`, `two_work`, …) and one with tasks of its own in 2026-07-28 (`own_work`,
 * `stream`, `slow`), for callers with a key of their organization.
 */
export async function deployTasklessPortal(rig: Rig) {
  const [one, two] = [await deployTaskless(rig), await deployTaskless(rig)];
  const own = await rig.deploy(createTaskListener());
  await Promise.all([
    storeManifest(rig, one.server, await one.caller()),
    storeManifest(rig, two.server, await two.caller()),
    storeManifest(rig, own),
  ]);
  const members = [
    { server: one.server, prefix: "one" },
    { server: two.server, prefix: "two" },
    { server: own, prefix: "own" },
  ];
  const portal = await addPortal(rig, members, "towpath-cloud");
  const caller = async () => (await storeApiKey(rig, portal.organizationId)).bearer;
  const who = await caller();
  // Gateways learn of the servers' new organization, and of the portal's lists.
  const names = async () => (await askModern(portal.url, who, { method: "tools/list" })).result?.tools?.length;
  await until(async () => (await names()) === 13);
  return { portal, server: one.server, one: one.taskless, two: two.taskless, caller };
}

/** Of a result, what tests look at. */
type Shown = {
  taskId: string;
  status?: string;
  ttlMs?: number | null;
  capabilities?: object;
  inputRequests?: object;
  tools?: unknown[];
  result?: object;
};

const versionKey = "io.modelcontextprotocol/protocolVersion";
const capabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
export const tasksExtension = "io.modelcontextprotocol/tasks";

/** Asks as a client of 2026-07-28, without a library, which declares tasks unless `extensions` says otherwise. */
export async function askModern(
  url: URL,
  who: Record<string, string>,
  {
    method,
    params = {},
    extensions = { [tasksExtension]: {} },
  }: { method: string; params?: object; extensions?: object },
): Promise<{ status: number; result: Shown; error: { code: number; message: string } }> {
  const _meta = { [versionKey]: "2026-07-28", [capabilitiesKey]: { extensions, elicitation: {} } };
  const { name, taskId } = params as { name?: string; taskId?: string };
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...((name ?? taskId) ? { "mcp-name": name ?? taskId ?? "" } : {}),
      ...who,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } }),
  });
  const body = await response.text();
  const message = JSON.parse(body.startsWith("{") ? body : (body.split("data: ").at(-1) ?? ""));
  return { status: response.status, ...message };
}
