// The minimal proxy of Node and undici, as a baseline for the gateway's cost. Bodies are streamed both ways, and
// nothing is checked, limited, changed or recorded. Arguments: pairs of a port and the unix socket behind it.

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Pool } from "undici";

function proxyTo(socketPath: string): (request: IncomingMessage, response: ServerResponse) => void {
  const upstream = new Pool("http://localhost", { socketPath, headersTimeout: 0, bodyTimeout: 0 });
  return (request, response) => {
    const { connection: _connection, ...headers } = request.headers;
    const { url: path = "/", method = "GET" } = request;
    upstream.dispatch(
      { path, method, headers, body: request },
      {
        onRequestStart() {},
        onResponseStart(_controller, status, { connection: _hopByHop, "transfer-encoding": _framing, ...passed }) {
          response.writeHead(status, passed);
        },
        onResponseData(controller, chunk) {
          if (response.write(chunk)) return;
          controller.pause();
          response.once("drain", () => controller.resume());
        },
        onResponseEnd() {
          response.end();
        },
        onResponseError() {
          response.destroy();
        },
      },
    );
  };
}

const pairs = process.argv.slice(2);
for (let at = 0; at < pairs.length; at += 2) {
  const server = createServer(proxyTo(pairs[at + 1] ?? "")).listen(Number(pairs[at]), "127.0.0.1");
  await once(server, "listening");
}
