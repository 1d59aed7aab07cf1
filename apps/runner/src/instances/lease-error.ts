export type LeaseErrorCode =
  | "not_found"
  | "start_failed"
  | "crash_backoff"
  | "capacity"
  | "isolation_unavailable"
  | "stopping";

/** Why there is no instance to send requests to. The message is for the caller of the server. */
export class LeaseError extends Error {
  override readonly name = "LeaseError";
  readonly code: LeaseErrorCode;
  readonly retryAfterMs: number | undefined;

  constructor(code: LeaseErrorCode, message: string, retryAfterMs?: number) {
    super(message);
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }
}
