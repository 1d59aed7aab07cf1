import type { CallResponse } from "../call/states.ts";
import { GatewayError } from "../gateway-error.ts";
import { ProjectUse } from "./project-use.ts";

export type CapacityLimits = {
  /** Requests of one project at a time, streams included. */
  maxRequestsPerServer: number;
  /** Bytes of request bodies that are held at a time, for all servers. */
  maxBodyBytes: number;
};

/** Admission of one request, released when the response closes. */
export type Admission = {
  /** Counts bytes of the request's body as held. @throws GatewayError 503 when there is no room for them */
  hold: (bytes: number) => void;
};

/** Limits requests and body bytes per server, so that callers of one server leave room for the others'. */
export class Capacity {
  readonly #limits: CapacityLimits;
  readonly #use = new ProjectUse();

  constructor(limits: CapacityLimits) {
    this.#limits = limits;
  }

  get requests(): number {
    return this.#use.all.requests;
  }

  get bodyBytes(): number {
    return this.#use.all.bytes;
  }

  /** @throws GatewayError 503 when the project has too many open requests */
  admit(projectId: string, response: CallResponse): Admission {
    const use = this.#use;
    if (use.of(projectId).requests >= this.#limits.maxRequestsPerServer) throw tooManyRequests();
    // Already closed: there will be no close event to release it, and nothing will be sent.
    if (response.destroyed) return { hold: () => {} };
    use.add(projectId, { requests: 1, bytes: 0 });
    let held = 0;
    response.on("close", () => use.add(projectId, { requests: -1, bytes: -held }));
    return {
      hold: (bytes) => {
        if (response.destroyed) return;
        // A server may hold as much as remains free, so at most half; the rest stays available to others.
        const free = this.#limits.maxBodyBytes - use.all.bytes - bytes;
        if (use.of(projectId).bytes + bytes > free) throw tooManyBytes();
        held += bytes;
        use.add(projectId, { requests: 0, bytes });
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
