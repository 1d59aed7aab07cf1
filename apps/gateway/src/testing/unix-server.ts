import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type RequestListener, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Endpoint, secretHeader } from "@towpath/runner-api";
import { standInSecret } from "@towpath/runner-api/testing";

export type UnixServer = { endpoint: Endpoint; server: Server; close: () => Promise<void> };

/** In place of the harness: admits requests with the secret, and removes it. */
function withSecret(handle: RequestListener): RequestListener {
  return (request, response) => {
    const { headers, headersDistinct, rawHeaders } = request;
    if (headers[secretHeader] !== standInSecret) return void response.writeHead(401).end();
    for (const each of [headers, headersDistinct]) delete each[secretHeader];
    rawHeaders.splice(rawHeaders.indexOf(secretHeader), 2);
    handle(request, response);
  };
}

/** An HTTP server on a unix socket in a new folder, as a deployed server's process would be. */
export async function startUnixServer(handle: RequestListener, socketPath?: string): Promise<UnixServer> {
  const directory = socketPath === undefined ? await mkdtemp(join(tmpdir(), "tp-up-")) : null;
  const path = socketPath ?? join(directory ?? "", "mcp.sock");
  const server = createServer({ keepAliveTimeout: 5000, requireHostHeader: false }, withSecret(handle));
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(path, resolve));
  return {
    endpoint: { kind: "unix", path },
    server,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
      if (directory) await rm(directory, { recursive: true, force: true });
    },
  };
}
