import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type RequestListener, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Endpoint } from "@towpath/runner-api";

export type UnixServer = { endpoint: Endpoint; server: Server; close: () => Promise<void> };

/** An HTTP server on a unix socket in a new folder, as a deployed server's process would be. */
export async function startUnixServer(handle: RequestListener, socketPath?: string): Promise<UnixServer> {
  const directory = socketPath === undefined ? await mkdtemp(join(tmpdir(), "tp-up-")) : null;
  const path = socketPath ?? join(directory ?? "", "mcp.sock");
  const server = createServer({ keepAliveTimeout: 5000, requireHostHeader: false }, handle);
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
