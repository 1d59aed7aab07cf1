import type { Server } from "node:http";
import { type AddressInfo, Server as NetServer } from "node:net";
import type { ListenAddress } from "./inherited-socket.ts";

const backlog = 4096;

/**
 * Resolves to the port once the server listens.
 *
 * @throws Error of the system, such as EADDRINUSE
 */
export function listen(server: Server, address: ListenAddress): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    const onListening = () => {
      server.off("error", reject);
      resolve((server.address() as AddressInfo).port);
    };
    if ("fd" in address) server.listen(address, backlog, onListening);
    else server.listen(address.port, address.host, backlog, onListening);
  });
}

/** How long a server that stops waits, milliseconds. */
type DrainLimits = {
  /** For requests under way; what is left is cut. */
  readonly requestsMs: number;
  /** For the next request on a connection that is idle. */
  readonly idleMs: number;
};

const closeIdleEveryMs = 250;

/**
 * Stops a server: it accepts no connections, and closes each after its next response. Resolves when all are closed.
 * A client may send a request at the moment when its idle connection is closed, and then can't know whether it was
 * served. Where another process serves already, `idleMs` lets clients that call often leave before that.
 */
export async function drainHttpServer(server: Server, { requestsMs, idleMs }: DrainLimits): Promise<void> {
  server.prependListener("request", (_request, response) => {
    response.shouldKeepAlive = false;
  });
  // Not http's own `close`, which closes idle connections at once.
  const closed = new Promise<void>((resolve) => {
    NetServer.prototype.close.call(server, () => resolve());
  });
  let idle: NodeJS.Timeout | undefined;
  const closeIdle = () => {
    server.closeIdleConnections();
    // Responses that had begun before leave their connections idle.
    idle = setTimeout(closeIdle, closeIdleEveryMs);
  };
  if (idleMs === 0) closeIdle();
  else idle = setTimeout(closeIdle, idleMs);
  const late = setTimeout(() => server.closeAllConnections(), requestsMs);
  await closed;
  clearTimeout(idle);
  clearTimeout(late);
}
