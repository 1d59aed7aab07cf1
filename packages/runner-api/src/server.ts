import { chmod, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { equalInConstantTime } from "@towpath/crypto";
import { type RunnerAnswer, type RunnerCall, RunnerError, runnerCalls, runnerErrors } from "./contract.ts";
import { endpointKey, type RunnerAddress } from "./endpoint.ts";
import { isServerKey, type ServerKey } from "./server-key.ts";

/** Implements each call. Handlers reject with RunnerError; anything else is an internal error. */
export type RunnerHandlers = {
  readonly [Call in RunnerCall]: (parameters: {
    readonly server: ServerKey;
    readonly instanceId: string;
  }) => Promise<RunnerAnswer<Call>>;
};

/** Runs the handler of a call. `traceparent`: the caller's span (W3C Trace Context); null without one. */
export type AroundCall = <Answer>(
  call: { readonly name: RunnerCall; readonly traceparent: string | null },
  run: () => Promise<Answer>,
) => Promise<Answer>;

/** What answers calls, and what runs its handlers. */
type Serving = { readonly handlers: RunnerHandlers; readonly around: AroundCall };

export type RunnerApi = {
  /**
   * Listens, on a unix socket with mode 0600. Resolves with the address; its port is the actual one when 0 was given.
   * @throws Error when another runner answers there
   */
  listen(address: RunnerAddress): Promise<RunnerAddress>;
  /** Answers calls with these handlers from now on. */
  serve(handlers: RunnerHandlers, around?: AroundCall): void;
  /** Accepts no further connections. Resolves when the running calls have been answered. */
  close(): Promise<void>;
  /** Ends all connections, even with calls in flight. */
  destroy(): void;
};

/**
 * Serves the runner's API. Until `serve`, it is healthy and refuses every other call. `onError` gets errors that are not
 * RunnerErrors; the caller only gets `internal`.
 */
export function createRunnerApi(onError: (error: unknown) => void): RunnerApi {
  let server: Server | null = null;
  let serving: Serving = { handlers: waitingHandlers, around: (_call, run) => run() };
  return {
    serve(handlers, around = (_call, run) => run()) {
      serving = { handlers, around };
    },
    async listen(address) {
      await assertNoRunner(address);
      const isAllowed = address.kind === "tcp" ? secretCheck(address.secrets) : () => true;
      const listening = createServer((request, response) => {
        request.resume();
        void answer(request, { ...serving, isAllowed, onError }).then(({ status, body }) => {
          response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
        });
      });
      server = listening;
      return await bind(listening, address);
    },
    close: () => new Promise((resolve) => (server ? server.close(() => resolve()) : resolve())),
    destroy: () => server?.closeAllConnections(),
  };
}

const refuse = () =>
  Promise.reject(
    new RunnerError("stopping", "This runner waits for the lease. Try again shortly.", { retryAfterMs: 1000 }),
  );
const waitingHandlers: RunnerHandlers = {
  ensure: refuse,
  verify: refuse,
  stop: refuse,
  isRunning: refuse,
  state: refuse,
  list: refuse,
  isolation: refuse,
  prewarm: refuse,
  health: async () => ({ status: "waiting", message: "waiting for the lease" }),
};

/** @throws Error when another runner answers there */
export async function assertNoRunner(address: RunnerAddress): Promise<void> {
  const isAnswered = await new Promise<boolean>((resolve) => {
    // Port 0 asks for any free one.
    if (address.kind === "tcp" && address.port === 0) return resolve(false);
    const socket = address.kind === "unix" ? connect(address.path) : connect(address.port, address.host);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    // EAGAIN: its backlog is full.
    socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code === "EAGAIN"));
  });
  if (isAnswered) throw new Error(`Another runner already serves ${endpointKey(address)}.`);
}

async function bind(server: Server, address: RunnerAddress): Promise<RunnerAddress> {
  // Nothing answers there: a killed runner left the socket.
  if (address.kind === "unix") await rm(address.path, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    if (address.kind === "unix") server.listen(address.path, resolve);
    else server.listen(address.port, address.host, resolve);
  });
  if (address.kind === "tcp") return { ...address, port: (server.address() as AddressInfo).port };
  await chmod(address.path, 0o600);
  return address;
}

function secretCheck(secrets: readonly string[]): (request: IncomingMessage) => boolean {
  const accepted = secrets.map((secret) => `Bearer ${secret}`);
  return ({ headers }) => {
    const given = headers.authorization ?? "";
    return accepted.some((each) => equalInConstantTime(each, given));
  };
}

/** Like the probe of a cluster, which has no secret. */
const asksForHealth = ({ method, url }: IncomingMessage) =>
  method === runnerCalls.health.method && url === runnerCalls.health.path;

type Answer = { readonly status: number; readonly body: unknown };

type AnswerParts = Serving & {
  readonly isAllowed: (request: IncomingMessage) => boolean;
  readonly onError: (error: unknown) => void;
};

async function answer(
  request: IncomingMessage,
  { handlers, isAllowed, onError, around }: AnswerParts,
): Promise<Answer> {
  try {
    if (!asksForHealth(request) && !isAllowed(request))
      throw new RunnerError("unauthorized", "This call needs a valid secret of the instance.");
    const { call, parameters } = callOf(request.method ?? "", request.url ?? "");
    const traceparent = request.headersDistinct.traceparent?.at(0) ?? null;
    const run: (given: typeof parameters) => Promise<unknown> = handlers[call];
    return { status: 200, body: await around({ name: call, traceparent }, () => run(parameters)) };
  } catch (error) {
    if (error instanceof RunnerError && error.code !== "unreachable") return failure(error.code, error);
    onError(error);
    const message = "The server cannot be started at the moment. Try again shortly.";
    return failure("internal", { message, retryAfterMs: 2000, timedOut: null });
  }
}

function failure(
  code: keyof typeof runnerErrors,
  { message, retryAfterMs, timedOut }: Pick<RunnerError, "message" | "retryAfterMs" | "timedOut">,
): Answer {
  return {
    status: runnerErrors[code].status,
    body: { error: { code, message, ...(retryAfterMs !== null && { retryAfterMs }), ...(timedOut && { timedOut }) } },
  };
}

const patterns = (Object.keys(runnerCalls) as RunnerCall[]).map((call) => ({
  call,
  method: runnerCalls[call].method,
  pattern: new RegExp(`^${runnerCalls[call].path.replace(/:(\w+)/g, "(?<$1>[\\w-]+)")}$`),
}));

/** @throws RunnerError `not_found` */
function callOf(method: string, url: string) {
  for (const each of patterns) {
    const found = each.method === method ? each.pattern.exec(url) : null;
    if (found === null) continue;
    const { server = "", instanceId = "" } = found.groups ?? {};
    if (found.groups && !isServerKey(server)) throw new RunnerError("not_found", "There is no such deployment.");
    return { call: each.call, parameters: { server, instanceId } };
  }
  throw new RunnerError("not_found", "There is no such route.");
}
