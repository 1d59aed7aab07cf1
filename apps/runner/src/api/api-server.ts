import { chmod, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { connect } from "node:net";
import type { Isolation } from "@towpath/runtime";
import { z } from "zod";
import type { InstancePool } from "../instances/instance-pool.ts";
import { LeaseError, type LeaseErrorCode } from "../instances/lease-error.ts";

export type ApiParts = {
  readonly pool: InstancePool;
  readonly isolation: () => Promise<Isolation>;
  readonly onError: (error: unknown) => void;
};

type Answer = { readonly status: number; readonly body: unknown };

const statusOf: Record<LeaseErrorCode, number> = {
  not_found: 404,
  start_failed: 503,
  crash_backoff: 503,
  capacity: 503,
  stopping: 503,
  isolation_unavailable: 503,
};

/** The runner's HTTP API for the gateway. Whoever can open the socket may use it: it is made for the platform's user. */
export function createApiServer(parts: ApiParts): Server {
  return createServer((request, response) => {
    request.resume();
    void answer(request, parts).then(({ status, body }) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    });
  });
}

/** Throws when another runner answers on the socket. */
export async function refuseSecondRunner(socketPath: string): Promise<void> {
  if (await isAnswered(socketPath)) throw new Error(`Another runner already serves ${socketPath}.`);
}

/** Listens on a unix socket with mode 0600; replaces a file that nobody serves. */
export async function listenOnSocket(server: Server, socketPath: string): Promise<void> {
  await rm(socketPath, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(socketPath, resolve);
  });
  await chmod(socketPath, 0o600);
}

function isAnswered(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    // EAGAIN: it is too busy to accept.
    socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code === "EAGAIN"));
  });
}

async function answer(request: IncomingMessage, parts: ApiParts): Promise<Answer> {
  try {
    return await route(`${request.method} ${request.url}`, parts);
  } catch (error) {
    if (error instanceof LeaseError) {
      const { code, message, retryAfterMs } = error;
      return { status: statusOf[code], body: { error: { code, message, retryAfterMs } } };
    }
    parts.onError(error);
    const message = "The server cannot be started at the moment. Try again shortly.";
    return { status: 503, body: { error: { code: "start_failed", message, retryAfterMs: 2000 } } };
  }
}

async function route(call: string, { pool, isolation }: ApiParts): Promise<Answer> {
  const onDeployment = /^POST \/v1\/deployments\/([^/?]+)\/(lease|stop)$/.exec(call);
  if (onDeployment !== null) {
    const id = z.uuid().safeParse(onDeployment[1]);
    if (!id.success) throw new LeaseError("not_found", "There is no such deployment.");
    if (onDeployment[2] === "lease") return { status: 200, body: await pool.lease(id.data) };
    await pool.stop(id.data);
    return { status: 200, body: {} };
  }
  switch (call) {
    case "GET /v1/instances":
      return { status: 200, body: { instances: await pool.list() } };
    case "GET /v1/isolation":
      return { status: 200, body: await isolation() };
    case "GET /healthz":
      return { status: 200, body: { status: "ok" } };
    default:
      throw new LeaseError("not_found", "There is no such route.");
  }
}
