import type { SignInStep } from "@towpath/logs/sign-ins";
import type { CallResponse } from "./call/states.ts";

/** Reasons for the gateway's own responses. Never 400: clients detect a server's era from the body of a 400. */
const statusOf = {
  unknown_host: 404,
  unknown_path: 404,
  unknown_server: 404,
  session_not_found: 404,
  sign_in_required: 401,
  token_expired: 401,
  unauthorized: 401,
  insufficient_scope: 403,
  method_not_allowed: 405,
  unsupported_http_version: 505,
  unsupported_transfer_encoding: 501,
  sign_in_unavailable: 503,
  forbidden_origin: 403,
  caller_not_allowed: 403,
  // Answers the call, as a server would.
  tool_not_allowed: 200,
  // These two answer the call, as a server would.
  values_needed: 200,
  person_needed: 200,
  // So do these, about a call that was asked for before (CAP-2).
  idempotency_key_refused: 200,
  outcome_unknown: 200,
  call_canceled: 200,
  result_gone: 200,
  results_unavailable: 503,
  call_unclear: 403,
  body_too_large: 413,
  caller_rate_limited: 429,
  server_rate_limited: 429,
  organization_rate_limited: 429,
  too_many_open_calls: 429,
  server_unreachable: 502,
  server_busy: 503,
  server_failed_to_start: 503,
  server_rebuilding: 503,
  gateway_busy: 503,
  gateway_not_ready: 503,
  credentials_unavailable: 503,
  start_timeout: 504,
  unsupported_target: 503,
  external_unreachable: 502,
  external_timeout: 504,
  external_refused: 502,
  list_withheld: 502,
  gateway_error: 502,
} as const;
export type GatewayErrorCode = keyof typeof statusOf;

// The SDKs use -32001 for an unknown session. All others share a code that no protocol revision uses.
const sessionNotFoundCode = -32001;
const gatewayErrorCode = -32050;

/** Why credentials were refused, and which facts about them are certain. */
export type RefusedSignIn = Pick<SignInStep, "problem" | "isProven" | "clientId" | "userId" | "keyId" | "detail">;

/** The refusal, with its step of the client's sign-in. */
export function aboutSignIn(refusal: GatewayError, signIn: RefusedSignIn): GatewayError {
  refusal.signIn = signIn;
  return refusal;
}

/** The gateway's own response. The message says what to do. */
export class GatewayError extends Error {
  readonly code: GatewayErrorCode;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds after which another request to the runner or the server may succeed; null if waiting doesn't help. */
  readonly waitMs: number | null;
  /** The runner's reason if it could not make the server ready. */
  readonly runnerCode: string | null;
  /** The step of the client's sign-in, for refused credentials. */
  signIn: RefusedSignIn | null = null;
  /** What answers a JSON-RPC request in place of an error of ours: `error` or `result`. */
  rpcAnswer: { readonly error: unknown } | { readonly result: unknown } | null = null;

  constructor(
    code: GatewayErrorCode,
    message: string,
    headers: Readonly<Record<string, string>> = {},
    waitMs: number | null = null,
    runnerCode: string | null = null,
  ) {
    super(message);
    this.code = code;
    this.status = statusOf[code];
    this.headers = headers;
    this.waitMs = waitMs;
    this.runnerCode = runnerCode;
  }

  get rpcCode(): number {
    return this.code === "session_not_found" ? sessionNotFoundCode : gatewayErrorCode;
  }
}

/** The same for a server that does not exist and one that belongs to somebody else. */
export function unknownServer(): GatewayError {
  return new GatewayError(
    "unknown_server",
    "There is no server at this address. Check its name in the dashboard, and that it has a live deployment.",
  );
}

/** Clients look for OAuth metadata before they know whether they need it. */
export function withoutSignIn(): GatewayError {
  return new GatewayError(
    "unknown_path",
    "This server needs no sign-in: it is open to anyone, so it has no OAuth metadata. Call it without a token.",
  );
}

/** The route's kind of target is unknown to this version, as during an upgrade of several gateways. */
export function unsupportedTarget(kind: string): GatewayError {
  return new GatewayError(
    "unsupported_target",
    `This gateway cannot serve this kind of server yet (${kind}). If Towpath is being upgraded, try again when it ` +
      "has finished. Otherwise ask the operator to upgrade the gateway.",
    { "retry-after": "30" },
  );
}

/** The gateway's own fault; its log says which. The request may have been sent. */
export function gatewayFailed(): GatewayError {
  return new GatewayError(
    "gateway_error",
    "The gateway failed while handling the request, which may still have run. The operator can find the reason " +
      "in the gateway's log.",
  );
}

/** Nothing was sent, so the request may be retried. */
export function unreachable(): GatewayError {
  const message = "The server cannot be reached. Try again shortly; its log in the dashboard may say why.";
  return new GatewayError("server_unreachable", message, { "retry-after": "2" }, 0);
}

/** Nothing was sent: the server's accept queue is full. */
export function busy(): GatewayError {
  const message = "The server is busy and accepts no more connections. Try again shortly.";
  return new GatewayError("server_busy", message, { "retry-after": "2" }, 0);
}

/** The request was sent, and the connection died. */
export function noAnswer(): GatewayError {
  return new GatewayError(
    "server_unreachable",
    "The server closed the connection before it answered. It may have carried the request out, so the request was " +
      "not sent again. The server's log in the dashboard may say why.",
  );
}

/** The server allows only some tools, and its answer might name others. */
export function listWithheld(): GatewayError {
  return new GatewayError(
    "list_withheld",
    "The gateway could not filter the server's answer for the allowed tools, so it withheld the answer. It must be " +
      "uncompressed, valid JSON of at most 8 MiB.",
  );
}

/** For the log: the connection itself was cut. */
export function credentialsEnded(): GatewayError {
  return new GatewayError(
    "unauthorized",
    "The caller's credentials ended while the answer was open: the key was revoked or has expired, the membership ended, " +
      "or the server no longer allows this caller.",
  );
}

export type RpcId = string | number | null;

function errorBody(refusal: GatewayError, id: RpcId | readonly RpcId[] | undefined): unknown {
  if (id === undefined) return { error: { code: refusal.code, message: refusal.message } };
  if (typeof id === "object" && id !== null) return id.map((each) => errorBody(refusal, each));
  if (refusal.rpcAnswer) return { jsonrpc: "2.0", id, ...refusal.rpcAnswer };
  const { rpcCode: code, message, headers } = refusal;
  const wait = headers["retry-after"];
  // Clients show the error, not the headers of the response that brought it.
  const data = { towpath: refusal.code, ...(wait === undefined ? {} : { retryAfterSeconds: Number(wait) }) };
  return { jsonrpc: "2.0", id, error: { code, message, data } };
}

/**
 * Sends a refusal as JSON: as a JSON-RPC error for a JSON-RPC request, else `{ "error": { code, message } }`.
 * `error.data.towpath` and `error.code` name the reason, which distinguishes it from the server's own answers. For a
 * batch's list of ids, each request gets the error. Returns the size of the body in bytes.
 */
export function sendError(
  response: CallResponse,
  refusal: GatewayError,
  options: { rpcId: RpcId | readonly RpcId[] | undefined; headers: readonly string[] },
): number {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return 0;
  }
  const error = errorBody(refusal, options.rpcId);
  const body = Buffer.from(`${JSON.stringify(error)}\n`);
  const headers = [
    "content-type",
    "application/json",
    "content-length",
    String(body.length),
    "cache-control",
    "no-store",
  ];
  for (const [name, value] of Object.entries(refusal.headers)) headers.push(name, value);
  headers.push(...options.headers);
  response.writeHead(refusal.status, headers);
  response.end(body);
  return body.length;
}

/** A check or signature that needs the database can't be made. */
export function credentialsUnavailable(): GatewayError {
  return new GatewayError(
    "credentials_unavailable",
    "The credentials cannot be checked at the moment. Try again shortly.",
    { "retry-after": "2" },
  );
}
