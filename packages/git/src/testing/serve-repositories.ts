import { existsSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";
import { type Service, serveGit } from "../http-backend.ts";

/** A server's answer in place of Git's: a status with headers, silence, or a broken connection. */
type GitAnswer =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  | "hang"
  | "break";

type ServeOptions = {
  /** Asked for each request with Basic auth; default: everything is public. */
  readonly token?: string;
  /** An answer in place of Git's; null: Git answers. */
  readonly answer?: (request: IncomingMessage) => GitAnswer | null | Promise<GitAnswer | null>;
  /** Takes pushes; a branch that is checked out takes none. */
  readonly takesPushes?: boolean;
  /** Clients speak protocol version 0, in which only heads of branches are served. */
  readonly isOld?: boolean;
  /** PEM; served over TLS with it. */
  readonly tls?: { readonly key: string; readonly cert: string };
};

export type GitServer = {
  /** Without a slash at the end; a repository is at `{url}/{its path below the directory}`. */
  readonly url: string;
  /** All requests so far, with `user:password` of each. */
  readonly requests: readonly { readonly method: string; readonly url: string; readonly credential: string | null }[];
  /** Changes options for later requests; absent ones stay. */
  readonly set: (options: ServeOptions) => void;
  readonly close: () => Promise<void>;
};

/**
 * Serves the repositories in a directory with plain `git http-backend`, on loopback: `{url}/owner/name.git` is the
 * repository in `owner/name.git`, bare or not.
 */
export async function serveGitRepositories(directory: string, given: ServeOptions = {}): Promise<GitServer> {
  let options = given;
  const requests: { method: string; url: string; credential: string | null }[] = [];
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = "", url = "", headers } = request;
    const basic = /^Basic (.+)$/.exec(headers.authorization ?? "")?.[1];
    const credential = basic === undefined ? null : Buffer.from(basic, "base64").toString("utf8");
    requests.push({ method, url, credential });
    const answer = (await options.answer?.(request)) ?? null;
    if (answer === "hang") return;
    if (answer === "break") return void response.destroy();
    if (answer !== null) return void response.writeHead(answer.status, answer.headers).end(answer.body);
    if (options.token !== undefined && credential?.replace(/^[^:]*:/, "") !== options.token)
      return void response.writeHead(401, { "www-authenticate": 'Basic realm="Git"' }).end();
    const [, path, service] = /^\/([^?]+)\/(info\/refs|git-(?:upload|receive)-pack)(?:\?|$)/.exec(url) ?? [];
    const isThere =
      path !== undefined && !path.split("/").includes("..") && existsSync(join(directory, decodeURIComponent(path)));
    if (!isThere) return void response.writeHead(404).end();
    const body = method === "POST" ? (Readable.toWeb(request) as ReadableStream<Uint8Array>) : null;
    const passed = new Headers(headers as Record<string, string>);
    if (options.isOld) passed.delete("git-protocol");
    const backend = await serveGit({
      directory: join(directory, decodeURIComponent(path)),
      service: service as Service,
      request: new Request(`http://localhost${url}`, { method, headers: passed, body, duplex: "half" } as RequestInit),
      user: options.takesPushes ? "ada" : null,
      afterwards: async () => null,
    });
    response.writeHead(backend.status, Object.fromEntries(backend.headers));
    await pipeline(Readable.fromWeb(backend.body as NodeReadableStream<Uint8Array>), response);
  };
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    handle(request, response).catch(() => response.destroy());
  };
  const server = given.tls ? createTlsServer(given.tls, onRequest) : createServer(onRequest);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `${given.tls ? "https" : "http"}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    set: (changed) => {
      options = { ...options, ...changed };
    },
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}
