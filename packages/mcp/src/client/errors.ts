import {
  InsufficientScopeError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from "@modelcontextprotocol/client";

/** Every way in which a conversation with an MCP server can fail. Callers map these codes; nobody compares messages. */
const mcpClientErrorCodes = [
  /** Nothing answers there: refused, reset, no such socket, name not found, HTTP 5xx. */
  "unreachable",
  "timeout",
  /** Aborted by the caller's signal. */
  "aborted",
  "unauthorized",
  "forbidden",
  "not_found",
  /** Something answers, but not with MCP. */
  "not_mcp",
  /** A well-formed JSON-RPC error of the server: see `rpcCode`. */
  "server_error",
  /** More bytes, pages or items than the caller allows. */
  "too_large",
] as const;
export type McpClientErrorCode = (typeof mcpClientErrorCodes)[number];

const maxQuoteLength = 1_000;

/** `message` is public text. It may quote the server, cut to 1,000 characters. */
export class McpClientError extends Error {
  readonly code: McpClientErrorCode;
  /** The JSON-RPC error code when `code` is `server_error`, else null. */
  readonly rpcCode: number | null;
  /** The HTTP status, if that is what failed. */
  readonly httpStatus: number | null;

  constructor(
    code: McpClientErrorCode,
    message: string,
    more: { readonly rpcCode?: number; readonly httpStatus?: number; readonly cause?: unknown } = {},
  ) {
    super(message, { cause: more.cause });
    this.name = "McpClientError";
    this.code = code;
    this.rpcCode = more.rpcCode ?? null;
    this.httpStatus = more.httpStatus ?? null;
  }
}

const notMcp = (cause: unknown) =>
  new McpClientError("not_mcp", "Something answers there, but it does not speak MCP.", { cause });
export const timedOut = (cause: unknown) =>
  new McpClientError("timeout", "The server did not answer in time.", { cause });
const unreachable = (cause: unknown) => new McpClientError("unreachable", "The server does not answer.", { cause });

function fromHttpStatus(status: number, cause: unknown): McpClientError {
  const more = { httpStatus: status, cause };
  if (status === 401) return new McpClientError("unauthorized", "The server asks for a sign-in (HTTP 401).", more);
  if (status === 403) return new McpClientError("forbidden", "The server refuses these credentials (HTTP 403).", more);
  if (status === 404)
    return new McpClientError("not_found", "There is no MCP server at this address (HTTP 404).", more);
  if (status >= 500) return new McpClientError("unreachable", `The server failed with HTTP ${status}.`, more);
  return new McpClientError("not_mcp", `The server answered with HTTP ${status} instead of MCP.`, more);
}

function fromSdkError(error: SdkError): McpClientError {
  switch (error.code) {
    case SdkErrorCode.RequestTimeout:
      return timedOut(error);
    case SdkErrorCode.ListPaginationExceeded:
      return new McpClientError("too_large", "The server's lists have too many pages.", { cause: error });
    case SdkErrorCode.ConnectionClosed:
    case SdkErrorCode.SendFailed:
    case SdkErrorCode.NotConnected:
      return unreachable(error);
    case SdkErrorCode.EraNegotiationFailed:
      return isNetworkFailure(error.cause) ? unreachable(error) : (fromHttpStatusIn(error) ?? notMcp(error));
    default:
      return notMcp(error);
  }
}

/** Negotiation wraps the HTTP answer to its probe: the status is in `data` or in the cause. */
function fromHttpStatusIn(error: SdkError): McpClientError | null {
  for (const place of [error.data, error.cause]) {
    if (typeof place === "object" && place !== null && "status" in place && typeof place.status === "number") {
      return fromHttpStatus(place.status, error);
    }
  }
  return null;
}

/** `fetch` reports every network failure as a TypeError; sockets carry a system code. */
function isNetworkFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof TypeError) return true;
  return "code" in error && typeof error.code === "string" && /^(E[A-Z]+|UND_ERR_\w+)$/.test(error.code);
}

/** Maps the protocol library's errors to the closed set. The original is the `cause`. */
export function asMcpClientError(error: unknown): McpClientError {
  if (error instanceof McpClientError) return error;
  if (error instanceof UnauthorizedError) return fromHttpStatus(401, error);
  if (error instanceof InsufficientScopeError) return fromHttpStatus(403, error);
  if (error instanceof ProtocolError) {
    const quote = error.message.slice(0, maxQuoteLength);
    return new McpClientError("server_error", quote, { rpcCode: error.code, cause: error });
  }
  if (error instanceof SdkHttpError) return fromHttpStatus(error.status, error);
  if (error instanceof SdkError) return fromSdkError(error);
  return isNetworkFailure(error) ? unreachable(error) : notMcp(error);
}
