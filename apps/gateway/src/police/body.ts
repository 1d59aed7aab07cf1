import type { IncomingMessage } from "node:http";
import { Refusal } from "../refusal.ts";

/** As in the SDKs. */
export const bodyLimitBytes = 4 * 1024 * 1024;

const discardedBytes = 64 * 1024 * 1024;
const nothing = Buffer.alloc(0);

/**
 * Reads a request's body whole, up to 4 MiB (GW-9). Null when the client went away before its end.
 *
 * @throws Refusal 413, as soon as it is known
 */
export function readBody(request: IncomingMessage): Promise<Buffer | null> | Buffer {
  const declared = request.headers["content-length"];
  if (declared === undefined && request.headers["transfer-encoding"] === undefined) return nothing;
  if (declared !== undefined && Number(declared) > bodyLimitBytes) throw tooLarge();
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size <= bodyLimitBytes) {
        chunks.push(chunk);
        return;
      }
      request.off("data", onData);
      request.pause();
      reject(tooLarge());
    };
    request.on("data", onData);
    request.on("end", () => resolve(chunks.length === 1 ? (chunks[0] ?? nothing) : Buffer.concat(chunks, size)));
    request.on("error", () => resolve(null));
    request.on("close", () => resolve(null));
  });
}

/**
 * Reads and forgets what is left of a refused request, so that its sender gets to read the answer: closing while
 * bytes arrive resets the connection. One that goes on for too long is cut off.
 */
export function discardBody(request: IncomingMessage): void {
  let size = 0;
  request.on("error", () => {});
  request.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > discardedBytes) request.destroy();
  });
  request.resume();
}

function tooLarge(): Refusal {
  return new Refusal(
    "body_too_large",
    "The request is larger than 4 MiB. Send large data by reference, for example as a URL or a resource.",
  );
}
