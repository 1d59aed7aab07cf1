// A gateway without HTTP, for gateway-own.ts: requests and responses are objects in memory, and the server's pool of
// connections answers from memory, too. All else is real: routes, policies, limits, rows on disk and in a database.
// Argument: the checkout whose gateway it is. Reads lines `KIND CALLS`, and prints the processor time of one call and its
// parts as a line of JSON.

import { EventEmitter } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { openLog } from "@towpath/role";
import type { Dispatcher } from "undici";
import type { startGateway as start } from "../../apps/gateway/src/compose.ts";
import { modernCall } from "../instance/modern-call.ts";
import { insertServer } from "./gateway-rows.ts";
import { profiled } from "./profile-parts.ts";

const [, , checkout = ""] = process.argv;
const fromCheckout = (path: string) => import(join(checkout, path));
/** Calls that begin in one turn of the event loop, and that are under way, as with some dozens of clients. */
const perTurn = 4;
const maxOpen = 16;
/** Rows reach the database within this time. */
const flushMs = 300;

const request = modernCall("echo", { text: "hello from the bench" }, "bench");
const requestBody = Buffer.from(request.body);
const requestHeaders = Object.entries({
  Host: "localhost:8080",
  ...request.headers,
  "Content-Length": String(requestBody.length),
}).flat();
const message =
  '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"hello from the bench"}],"isError":false}}';
const answers = {
  json: { headers: { "content-type": "application/json", "content-length": String(message.length) }, body: message },
  stream: { headers: { "content-type": "text/event-stream" }, body: `event: message\ndata: ${message}\n\n` },
};
type Kind = keyof typeof answers;

/** Stands in for undici's pool: all answers of a turn come in the next one. */
function poolOf({ headers, body }: (typeof answers)[Kind]): Pick<Dispatcher, "dispatch"> {
  const waiting: (() => void)[] = [];
  const answerAll = () => {
    for (const answer of waiting.splice(0)) answer();
  };
  return {
    dispatch(_options, handler) {
      const rawHeaders = Object.entries(headers).flatMap((pair) => pair.map((text) => Buffer.from(text)));
      const flow = { pause() {}, resume() {}, abort() {} };
      const controller = { ...flow, rawHeaders } as unknown as Dispatcher.DispatchController;
      handler.onRequestStart?.(controller, null);
      waiting.push(() => {
        handler.onResponseStart?.(controller, 200, headers);
        handler.onResponseData?.(controller, Buffer.from(body));
        handler.onResponseEnd?.(controller, {});
      });
      if (waiting.length === 1) setImmediate(answerAll);
      return true;
    },
  };
}

/** What the gateway uses of a response. `onEnd` gets its status. */
class MemoryResponse extends EventEmitter {
  headersSent = false;
  destroyed = false;
  writableEnded = false;
  writableFinished = false;
  #status = 0;
  readonly #onEnd: (status: number) => void;

  constructor(onEnd: (status: number) => void) {
    super();
    this.#onEnd = onEnd;
  }

  writeHead(status: number): void {
    this.#status = status;
    this.headersSent = true;
  }

  flushHeaders(): void {}

  write(): boolean {
    return true;
  }

  end(): void {
    this.writableEnded = true;
    this.writableFinished = true;
    process.nextTick(() => {
      this.destroyed = true;
      this.emit("close");
      this.#onEnd(this.#status);
    });
  }
}

async function openGateway() {
  const { startEmbeddedPostgres } = await fromCheckout("packages/db/src/embedded/postgres.ts");
  const { migrateDatabase, openDatabase } = await fromCheckout("packages/db/src/client.ts");
  const { createRunnerStandIn } = await fromCheckout("packages/runner-api/src/testing/stand-in.ts");
  const { Upstreams } = await fromCheckout("apps/gateway/src/forward/upstreams.ts");
  const { readConfig } = await fromCheckout("apps/gateway/src/config.ts");
  const { startGateway }: { startGateway: typeof start } = await fromCheckout("apps/gateway/src/compose.ts");
  const directory = await mkdtemp(join(tmpdir(), "tp-bench-"));
  const places = { dataDirectory: join(directory, "data"), socketDirectory: join(directory, "s") };
  const postgres = await startEmbeddedPostgres({ ...places, durable: false });
  await migrateDatabase(postgres.url);
  const database = openDatabase(postgres.url);
  const runner = createRunnerStandIn({ kind: "unix", path: join(directory, "runner.sock") });
  for (const kind of Object.keys(answers)) {
    const deployment = await insertServer(database.pool, `bench-${kind}`, "towpath-public");
    runner.servers.set(deployment, { instanceId: `bench-${deployment}`, endpoint: { kind: "unix", path: `/${kind}` } });
  }
  await runner.start();
  const pools = { "/json": poolOf(answers.json), "/stream": poolOf(answers.stream) };
  Upstreams.prototype.at = ({ path }: { path: keyof typeof pools }) => pools[path];
  const config = readConfig({
    DATABASE_URL: postgres.url,
    TOWPATH_DATA_DIR: directory,
    TOWPATH_RUN_DIR: directory,
    TOWPATH_SECRET: "the bench's secret has 32 letters",
    TOWPATH_LOG_LEVEL: "silent",
    TOWPATH_GATEWAY_PORT: "0",
    TOWPATH_SERVER_URL: "http://localhost:8080/{name}",
    // Kept, as in production, but never reached.
    ...Object.fromEntries(
      ["CALLER", "SERVER", "ORGANIZATION"].flatMap((name) => [
        [`TOWPATH_LIMIT_${name}_PER_MINUTE`, "10000000"],
        [`TOWPATH_LIMIT_${name}_BURST`, "10000000"],
      ]),
    ),
  });
  const gateway = await startGateway(config, openLog(config.logLevel, { role: "gateway" }));
  const [serve] = gateway.server.listeners("request");
  const stop = async () => {
    await gateway.stop(100);
    await runner.stop();
    await database.close();
    await postgres.stop();
    await rm(directory, { recursive: true, force: true });
  };
  return { serve: serve as (request: IncomingMessage, response: MemoryResponse) => void, stop };
}

const socket = Object.assign(new EventEmitter(), { remoteAddress: "127.0.0.1" }) as unknown as Socket;

/** A request as Node's parser leaves it once its body has come. */
function requestFor(kind: Kind): IncomingMessage {
  const made = new IncomingMessage(socket) as IncomingMessage & {
    _addHeaderLines(lines: string[], count: number): void;
  };
  made._addHeaderLines([...requestHeaders], requestHeaders.length);
  made.push(Buffer.from(requestBody));
  made.push(null);
  return Object.assign(made, { method: "POST", url: `/bench-${kind}/mcp`, httpVersion: "1.1", complete: true });
}

/** Makes calls until `count` are answered and recorded. Returns microseconds of processor time of one. */
async function call(kind: Kind, count: number): Promise<number> {
  const { promise: done, resolve, reject } = Promise.withResolvers<void>();
  let begun = 0;
  let ended = 0;
  const onEnd = (status: number) => {
    if (status !== 200) reject(new Error(`a call was answered with status ${status}`));
    if (++ended === count) resolve();
  };
  const turn = () => {
    for (let at = 0; at < perTurn && begun < count && begun - ended < maxOpen; at++) {
      begun++;
      gateway.serve(requestFor(kind), new MemoryResponse(onEnd));
    }
    if (begun < count) setImmediate(turn);
  };
  const before = process.cpuUsage();
  turn();
  await done;
  await sleep(flushMs);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}

const gateway = await openGateway();
process.stdout.write("ready\n");
try {
  for await (const line of createInterface(process.stdin)) {
    const [kind, count, what] = line.split(" ") as [Kind, string, string?];
    const result = what === "parts" ? await profiled(() => call(kind, Number(count))) : await call(kind, Number(count));
    process.stdout.write(`${JSON.stringify(result)}\n`);
  }
} finally {
  await gateway.stop();
}
