import { stripVTControlCharacters } from "node:util";
import { everyRaisedIn, type Raised } from "../../delivery/traceback/traceback.schema.ts";
import { oneLine } from "../../input/index.ts";
import type { ErrorCause } from "./error-cause.ts";
import { normalizedMessage } from "./normalized-message.ts";

/** What a row of the request log says about a failed call, and how its server ended. */
export type FailedCall = {
  readonly method: string | null;
  /** Tool name, prompt name or resource URI. */
  readonly target: string | null;
  readonly outcome: string;
  readonly httpStatus: number;
  readonly errorCode: number | null;
  readonly errorMessage: string | null;
  /** Why the gateway itself answered with an error. */
  readonly refusal: string | null;
  /** Whether the request was sent to the server. */
  readonly wasSent: boolean;
  /** The runner's error code, if it couldn't make the server ready. */
  readonly startError: string | null;
  /** How the server process that got it has ended since; null: it hasn't, or that isn't known. */
  readonly end: { readonly isCrash: boolean; readonly reason: string } | null;
};

const maxTitle = 300;

/** JSON-RPC errors for what the caller sent: no JSON, no request, no such method, parameters or resource, and a sign-in. */
const callersCodes: ReadonlySet<number> = new Set([-32700, -32600, -32601, -32602, -32002, -32042]);

/** How FastMCP, the SDK and its low-level server word arguments that a tool's schema refuses, and names that don't exist. */
const callersMistakes: readonly RegExp[] = [
  /\bvalidation errors? for (?:call\[|\w+Arguments\b)/,
  /^Input validation error: /,
  /^Unknown (?:tool|resource|prompt)\b/i,
  /^(?:Tool|Prompt|Resource) .{1,200} not found\b/i,
  /^Missing required arguments?\b/i,
];

/** The runner's errors that are the server's own fault, not the host's. */
const startErrors: ReadonlySet<string> = new Set(["start_failed", "crash_backoff", "ended", "no_answer"]);

/**
 * Why a call failed, for grouping; null if the server isn't to blame: the caller's arguments were wrong, or the platform
 * ended the server or had no place for it.
 *
 * @param lines what the server printed during the call, oldest first
 */
export function causeOf(call: FailedCall, lines: readonly string[]): ErrorCause | null {
  if (call.outcome === "gateway_error") return gatewayCause(call);
  if (call.outcome === "closed_by_server") return endCause(call, lines);
  if (call.outcome === "rpc_error" && callersCodes.has(call.errorCode ?? 0)) return null;
  const raised = raisedBy(lines);
  const message = call.errorMessage ?? "";
  if (!raised?.frame && callersMistakes.some((pattern) => pattern.test(withoutPrefix(message)))) return null;
  return raised ? raisedCause(call, raised) : messageCause(call);
}

/** Of chained exceptions the last one with a frame of the server's own code: frameworks wrap what a tool raised. */
function raisedBy(lines: readonly string[]): Raised | undefined {
  const all = everyRaisedIn(lines.map((line) => stripVTControlCharacters(line)));
  return all.findLast(({ frame }) => frame !== null) ?? all.at(-1);
}

function raisedCause({ method, target }: FailedCall, { exception, frame }: Raised): ErrorCause {
  const [type = exception] = /^[A-Za-z_][\w.]*(?=:|$)/.exec(exception) ?? [];
  return {
    key: ["raised", method, target, type.slice(0, maxTitle), frame?.file ?? null, frame?.name ?? null],
    title: cut(exception),
    exception: cut(type),
    frame,
    method,
    target,
  };
}

function messageCause(call: FailedCall): ErrorCause {
  const { method, target, outcome, errorCode, httpStatus } = call;
  const message = withoutPrefix(call.errorMessage ?? "");
  const kind = outcome === "http_error" ? `HTTP ${httpStatus}` : outcome === "rpc_error" ? `Error ${errorCode}` : null;
  return {
    key: ["message", method, target, outcome, kind, normalizedMessage(message)],
    title:
      cut(message) || (kind === null ? "The tool returned an error without a message" : `${kind} without a message`),
    exception: null,
    frame: null,
    method,
    target,
  };
}

function gatewayCause(call: FailedCall): ErrorCause | null {
  if (call.refusal === "server_unreachable") return call.wasSent ? endCause(call, []) : null;
  if (call.refusal !== "server_failed_to_start" || !startErrors.has(call.startError ?? "")) return null;
  // Any call may be the one that starts it.
  const message = call.errorMessage ?? "The server did not start";
  return {
    key: ["start", normalizedMessage(message)],
    title: cut(message),
    exception: null,
    frame: null,
    method: null,
    target: null,
  };
}

/** The server ended, or closed the connection, before it answered. */
function endCause(call: FailedCall, lines: readonly string[]): ErrorCause | null {
  const { method, target, end } = call;
  if (end && !end.isCrash) return null;
  const raised = end ? undefined : raisedBy(lines);
  if (raised) return raisedCause(call, raised);
  const title = end ? `The server crashed: ${end.reason}` : "The server closed the connection before it answered";
  return {
    key: ["end", method, target, normalizedMessage(title)],
    title: cut(title),
    exception: null,
    frame: null,
    method,
    target,
  };
}

/** Frameworks put the tool's name before what it raised. */
const withoutPrefix = (message: string) => message.replace(/^Error (?:calling|executing) tool .{1,200}?: /, "");

const cut = (text: string): string => oneLine(text, maxTitle);
