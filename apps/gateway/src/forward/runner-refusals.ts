import type { RunnerError } from "@towpath/runner-api";
import { GatewayError } from "../gateway-error.ts";

const defaultRetryAfterMs = 2000;

const rebuilding =
  "The server is being built again, because the files of its last build were lost. Try again in a minute; its builds in " +
  "the dashboard show the progress.";

/** What the runner said: 404 for a deployment that is gone, else 503. */
export function refused({ code, message, retryAfterMs, waitHelps }: RunnerError): GatewayError {
  if (code === "not_found") return new GatewayError("unknown_server", message);
  const waitMs = retryAfterMs ?? defaultRetryAfterMs;
  const headers = { "retry-after": String(Math.max(1, Math.ceil(waitMs / 1000))) };
  // Only live deployments have callers, and the worker builds those again.
  if (code === "layers_lost") return new GatewayError("server_rebuilding", rebuilding, headers, null, code);
  return new GatewayError("server_failed_to_start", message, headers, waitHelps ? waitMs : null, code);
}

export function asleep({ message: reason }: RunnerError): GatewayError {
  const message = `The server does not answer. It may be asleep, and nothing can wake it: ${reason}. Try again shortly.`;
  return new GatewayError("server_unreachable", message, { "retry-after": "2" }, 0, "unreachable");
}

/** A runner that is away is soon back. */
export function runnerAway({ message: reason }: RunnerError): GatewayError {
  const message = `Servers cannot be started at the moment: ${reason}. Try again shortly.`;
  return new GatewayError("server_failed_to_start", message, { "retry-after": "2" }, 0, "unreachable");
}
