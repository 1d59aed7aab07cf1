import { once } from "node:events";
import { type RequestOptions, request } from "node:https";
import type { TLSSocket } from "node:tls";

/** Where HTTPS is served on this machine, and whose certificates count. */
export type Front = { readonly port: number; readonly authorities: string };

export type Answer = {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  /** Pieces of the body as they came, with milliseconds since the request. */
  readonly pieces: readonly { readonly atMs: number; readonly text: string }[];
  readonly text: string;
  /** Names in the server's certificate. */
  readonly names: string;
};

type Asked = Pick<RequestOptions, "method" | "headers" | "localAddress"> & { readonly body?: string };

/** Requests a URL from the front on this machine, without DNS. Rejects when the certificate isn't valid for its host. */
export async function requestAt({ port, authorities }: Front, url: string, asked: Asked = {}): Promise<Answer> {
  const { hostname, pathname, search } = new URL(url);
  const { body, headers, ...options } = asked;
  const begun = performance.now();
  const sent = request({
    ...options,
    host: "127.0.0.1",
    port,
    path: pathname + search,
    servername: hostname,
    headers: { ...headers, host: hostname },
    ca: authorities,
    agent: false,
  });
  sent.end(body);
  const [response] = (await once(sent, "response")) as [import("node:http").IncomingMessage];
  const names = (response.socket as TLSSocket).getPeerCertificate().subjectaltname ?? "";
  const pieces: { atMs: number; text: string }[] = [];
  for await (const piece of response) pieces.push({ atMs: performance.now() - begun, text: String(piece) });
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    pieces,
    text: pieces.map(({ text }) => text).join(""),
    names,
  };
}
