import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";
import { asTowpathError } from "@towpath/core/errors";
import type { Repositories } from "../repositories/repositories.ts";

type Options = {
  readonly onRequest?: (request: IncomingMessage) => void;
  readonly onPush?: (refs: readonly string[]) => Promise<void>;
  readonly mayWrite?: () => boolean;
};

/** Serves stored repositories to git's client, at `{url}/{id}.git`, as web does without its permissions. */
export async function serveStore(
  store: Repositories,
  { onRequest = () => {}, onPush = async () => {}, mayWrite = () => true }: Options = {},
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer(async (request, response) => {
    const { method = "", headers, url: target = "" } = request;
    onRequest(request);
    const body = method === "POST" ? Readable.toWeb(request) : null;
    const sent = new Request(`http://localhost${target}`, {
      method,
      headers: headers as Record<string, string>,
      body,
      duplex: "half",
    } as RequestInit);
    const [, id = "", path = ""] = /^\/([0-9a-f-]{36})\.git\/([^?]*)/.exec(target) ?? [];
    const asked = store.parseGitRequest(sent, path);
    if (asked === null) return void response.writeHead(404).end();
    if (asked.access === "write" && !mayWrite()) return void response.writeHead(403).end();
    try {
      const answer = await store.serve(sent, { id, organizationId: id, asked, defaultBranch: "main", onPush });
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      await pipeline(Readable.fromWeb(answer.body as NodeReadableStream<Uint8Array>), response).catch(() => {});
    } catch (thrown) {
      const error = asTowpathError(thrown);
      response.writeHead(error.httpStatus, { "content-type": "text/plain; charset=utf-8" }).end(`${error.message}\n`);
    }
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}
