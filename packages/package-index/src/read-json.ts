import { getCACertificates } from "node:tls";
import { TowpathError } from "@towpath/core/errors";
import { EnvHttpProxyAgent, fetch } from "undici";

const timeoutMs = 15_000;

export type JsonRequest = {
  readonly url: URL;
  /** The subject of error messages: `The package index`. */
  readonly from: string;
  readonly accept: string;
  /** The end of the error for an answer that isn't JSON. */
  readonly otherwise: string;
  readonly maxBytes: number;
  readonly authorization?: string | null;
  readonly signal?: AbortSignal | undefined;
};

/**
 * Reads JSON through the host's proxy, trusting the host's authorities too, as uv does: a company's index may use its
 * own certificate.
 *
 * @returns a function that resolves to the result of `parse`, null for 404, and throws `upstream_unavailable`
 */
export function createJsonReader() {
  const tls = { ca: [...getCACertificates("default"), ...getCACertificates("system")] };
  const dispatcher = new EnvHttpProxyAgent({ connect: tls, requestTls: tls });
  return async <T>(request: JsonRequest, parse: (body: unknown) => T): Promise<T | null> => {
    const { url, from, accept, authorization = null, signal } = request;
    const unreachable = (what: string, cause?: unknown) =>
      new TowpathError("upstream_unavailable", `${from} ${url.host} ${what}. Try again shortly.`, { cause });
    const deadline = AbortSignal.timeout(timeoutMs);
    try {
      const response = await fetch(url, {
        headers: { accept, "user-agent": "towpath", ...(authorization !== null && { authorization }) },
        dispatcher,
        signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
      });
      if (response.status === 404) return null;
      if (!response.ok) throw unreachable(`answered with status ${response.status}`);
      if (!(response.headers.get("content-type") ?? "").includes("json")) throw unreachable(request.otherwise);
      return parse(JSON.parse(await bounded(response, request.maxBytes, unreachable)));
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof TowpathError) throw error;
      throw unreachable(deadline.aborted ? `did not answer within ${timeoutMs / 1000} s` : "can't be reached", error);
    }
  };
}

type Body = { readonly body: AsyncIterable<Uint8Array> | null };

async function bounded({ body }: Body, maxBytes: number, unreachable: (what: string) => Error): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw unreachable("answered with too long a list");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
