import type { CallResponse } from "../call/states.ts";
import { GatewayError } from "../gateway-error.ts";

export type CapacityLimits = {
  /** Requests of one project at a time, streams included. */
  maxRequestsPerServer: number;
  /** Bytes of request bodies that are held at a time, for all servers. */
  maxBodyBytes: number;
};

type Use = { requests: number; bodyBytes: number };

/** Admission of one request, released when the response closes. */
export type Admission = {
  /** Counts bytes of the request's body as held. @throws GatewayError 503 when there is no room for them */
  hold: (bytes: number) => void;
};

/** Limits requests and body bytes per server, so that callers of one server leave room for the others'. */
export class Capacity {
  readonly #limits: CapacityLimits;
  readonly #uses = new Map<string, Use>();
  #requests = 0;
  #bodyBytes = 0;

  constructor(limits: CapacityLimits) {
    this.#limits = limits;
  }

  get requests(): number {
    return this.#requests;
  }

  get bodyBytes(): number {
    return this.#bodyBytes;
  }

  /** @throws GatewayError 503 when the project has too many open requests */
  admit(projectId: string, response: CallResponse): Admission {
    const use = this.#uses.get(projectId) ?? { requests: 0, bodyBytes: 0 };
    if (use.requests >= this.#limits.maxRequestsPerServer) throw tooManyRequests();
    // Already closed: there will be no close event to release it, and nothing will be sent.
    if (response.destroyed) return { hold: () => {} };
    this.#uses.set(projectId, use);
    use.requests++;
    this.#requests++;
    let held = 0;
    response.on("close", () => {
      use.requests--;
      use.bodyBytes -= held;
      this.#requests--;
      this.#bodyBytes -= held;
      if (use.requests === 0) this.#uses.delete(projectId);
    });
    return {
      hold: (bytes) => {
        if (response.destroyed) return;
        // A server may hold as much as remains free, so at most half; the rest stays available to others.
        const free = this.#limits.maxBodyBytes - this.#bodyBytes - bytes;
        if (use.bodyBytes + bytes > free) throw tooManyBytes();
        held += bytes;
        use.bodyBytes += bytes;
        this.#bodyBytes += bytes;
      },
    };
  }
}

function tooManyRequests(): GatewayError {
  const message = "The server has reached its limit of concurrent requests. Try again when some have finished.";
  return new GatewayError("server_busy", message, { "retry-after": "5" });
}

function tooManyBytes(): GatewayError {
  const message = "The gateway holds too much request data at the moment. Try again shortly.";
  return new GatewayError("gateway_busy", message, { "retry-after": "5" });
}
