import type { IncomingMessage } from "node:http";
import type { Call } from "../call/states.ts";
import { GatewayError } from "../gateway-error.ts";
import type { Admission } from "./capacity.ts";

/** As in the SDKs. */
const bodyLimitBytes = 4 * 1024 * 1024;

const discardedBytes = 64 * 1024 * 1024;
const nothing = Buffer.alloc(0);

/** Milliseconds for the sender of a refused request to finish and read the response. */
const lingerMs = 2000;

/**
 * Reads a whole request body, up to 4 MiB (GW-9). Null when the client disconnects before its end.
 *
 * @throws GatewayError as soon as known: 413, or 503 when the gateway holds too much
 */
export function readBody(source: Call["body"], admission: Admission): Promise<Buffer | null> | Buffer {
  if (Buffer.isBuffer(source)) return held(source, admission);
  const declared = source.headers["content-length"];
  if (declared === undefined && source.headers["transfer-encoding"] === undefined) return nothing;
  if (declared !== undefined && Number(declared) > bodyLimitBytes) throw tooLarge();
  // The client disconnected while its credentials were checked; no more events will come.
  if (source.destroyed) return Promise.resolve(null);
  // After a wait for its caller's credentials or its turn it is complete: it can be read from the stream's buffer without
  // an event. Otherwise Node has not parsed the body yet, even if it came with the head.
  if (source.complete) return held(source.read() ?? nothing, admission);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      try {
        if (size > bodyLimitBytes) throw tooLarge();
        admission.hold(chunk.length);
        chunks.push(chunk);
      } catch (error) {
        chunks.length = 0;
        source.off("data", onData);
        source.pause();
        reject(error);
      }
    };
    source.on("data", onData);
    source.on("end", () => resolve(chunks.length === 1 ? (chunks[0] ?? nothing) : Buffer.concat(chunks, size)));
    source.on("error", () => resolve(null));
    source.on("close", () => resolve(null));
  });
}

function held(body: Buffer, admission: Admission): Buffer {
  if (body.length > bodyLimitBytes) throw tooLarge();
  admission.hold(body.length);
  return body;
}

/**
 * Reads and discards the rest of a refused request so that its sender can read the response: closing while bytes still
 * arrive would reset the connection. Cuts off senders that continue for too long or stop sending.
 */
export function discardBody(request: IncomingMessage): void {
  let size = 0;
  const timer = setTimeout(() => request.destroy(), lingerMs);
  timer.unref();
  request.once("close", () => clearTimeout(timer));
  request.on("error", () => {});
  request.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > discardedBytes) request.destroy();
  });
  request.resume();
}

function tooLarge(): GatewayError {
  return new GatewayError(
    "body_too_large",
    "The request is larger than 4 MiB. Send large data by reference, for example as a URL or a resource.",
  );
}
