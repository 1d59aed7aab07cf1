import type { RunnerError } from "@towpath/runner-api";
import { GatewayError } from "../gateway-error.ts";

const defaultRetryAfterMs = 2000;

const rebuilding =
  "The server is being built again, because the files of its last build were lost. Try again in a minute; its builds in " +
  "the dashboard show the progress.";

const minuteMs = 60_000;
/** A push or a rebuild may end the pause at any time. */
const maxRetryAfterMs = 5 * minuteMs;

/** The last rebuild failed; the next attempt is at this time. */
function rebuiltLater(waitMs: number): string {
  const minutes = Math.ceil(waitMs / minuteMs);
  const wait = minutes < 120 ? `${minutes} minutes` : `${Math.round(minutes / 60)} hours`;
  const at = new Date(Date.now() + waitMs).toISOString().slice(0, 16).replace("T", " ");
  return (
    "The files of the server's last build were lost, and building it again has failed. The next try is in " +
    `${wait} (${at} UTC); a push or a rebuild tries at once. Its builds in the dashboard say why it failed.`
  );
}

const retryAfter = (ms: number) => ({ "retry-after": String(Math.max(1, Math.ceil(ms / 1000))) });

/** The runner's error as the client sees it: 404 if the deployment is gone, else 503. */
export function refused({ code, message, retryAfterMs, waitHelps }: RunnerError): GatewayError {
  if (code === "not_found") return new GatewayError("unknown_server", message);
  if (code === "values_missing") return new GatewayError("values_needed", message, {}, null, code);
  const waitMs = retryAfterMs ?? defaultRetryAfterMs;
  // Only live deployments have callers, and the worker rebuilds those.
  if (code === "layers_lost") {
    const text = waitMs > minuteMs ? rebuiltLater(waitMs) : rebuilding;
    return new GatewayError("server_rebuilding", text, retryAfter(Math.min(waitMs, maxRetryAfterMs)), null, code);
  }
  const headers = retryAfter(waitMs);
  return new GatewayError("server_failed_to_start", message, headers, waitHelps ? waitMs : null, code);
}

export function asleep({ message: reason }: RunnerError): GatewayError {
  const message = `The server does not answer. It may be asleep, and nothing can wake it: ${reason}. Try again shortly.`;
  return new GatewayError("server_unreachable", message, { "retry-after": "2" }, 0, "unreachable");
}

/** Asks the client to retry soon: the supervisor restarts the runner. */
export function runnerUnreachable({ message: reason }: RunnerError): GatewayError {
  const message = `Servers cannot be started at the moment: ${reason}. Try again shortly.`;
  return new GatewayError("server_failed_to_start", message, { "retry-after": "2" }, 0, "unreachable");
}
