import { services } from "~/compose.server.ts";
import { type BatchLine, batchPath, maxBatched } from "./batched-fetch.ts";
import { securityHeaders } from "./security-headers.ts";

type Handle = (request: Request) => Response | Promise<Response>;

/**
 * Answers calls of server functions that share a request (`batchedFetch`), each as if it came alone: with its own checks,
 * and as soon as it ends. Only functions that read, which answer GET.
 *
 * @returns null for any other request
 */
export async function answerBatch(request: Request, handle: Handle): Promise<Response | null> {
  if (new URL(request.url).pathname !== batchPath) return null;
  const calls = request.method === "POST" ? callsIn(await request.json().catch(() => null), request.url) : null;
  if (calls === null) return new Response("Bad Request", { status: 400, headers: ownHeaders("text/plain") });
  const headers = new Headers(request.headers);
  for (const name of ["content-type", "content-length"]) headers.delete(name);
  headers.set("x-tsr-serverFn", "true");
  headers.set("accept", "application/json");
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async start(stream) {
      await Promise.all(
        calls.map(async (url, at) => {
          const line = await lineOf(at, handle, new Request(url, { headers, signal: request.signal }));
          if (!request.signal.aborted) stream.enqueue(encoder.encode(`${JSON.stringify(line)}\n`));
        }),
      );
      if (!request.signal.aborted) stream.close();
    },
  });
  return new Response(body, { headers: ownHeaders("application/x-ndjson") });
}

const ownHeaders = (type: string) => ({
  ...securityHeaders(services().config.baseUrl),
  "content-type": type,
  "cache-control": "private, no-store",
});

/** The addresses of the calls; null for anything else. */
function callsIn(body: unknown, base: string): readonly URL[] | null {
  if (!Array.isArray(body) || body.length === 0 || body.length > maxBatched) return null;
  const urls = body.map((path: unknown) =>
    typeof path === "string" && /^\/_serverFn\/[\w.-]+(\?|$)/.test(path) && path.split("?", 1)[0] !== batchPath
      ? new URL(path, base)
      : null,
  );
  return urls.every((url) => url !== null) ? urls : null;
}

async function lineOf(at: number, handle: Handle, request: Request): Promise<BatchLine> {
  try {
    const response = await handle(request);
    const { status } = response;
    const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? false;
    if (!isJson || response.headers.has("set-cookie")) {
      await response.body?.cancel();
      return { at, status, headers: [], body: null };
    }
    const headers = ["content-type", "x-tss-serialized", "x-tss-raw"].flatMap((name) => {
      const value = response.headers.get(name);
      return value === null ? [] : [[name, value] as const];
    });
    return { at, status, headers, body: await response.text() };
  } catch {
    // On its own, the call is answered and reported as any other.
    return { at, status: 500, headers: [], body: null };
  }
}
