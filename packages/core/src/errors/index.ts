/** All error codes of verbs. Callers check the code, never the message. */
const errorCodes = [
  "unauthenticated",
  "forbidden",
  "not_found",
  "unknown_field",
  "invalid_input",
  "conflict",
  "limit_reached",
  "out_of_storage",
  "upstream_unavailable",
  "not_configured",
  "internal",
] as const;

export type ErrorCode = (typeof errorCodes)[number];

const statusOf: Record<ErrorCode, number> = {
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  unknown_field: 400,
  invalid_input: 422,
  conflict: 409,
  limit_reached: 429,
  out_of_storage: 507,
  upstream_unavailable: 502,
  not_configured: 501,
  internal: 500,
};

/** Text to show beside each invalid field, by the field's path. */
export type FieldProblems = Readonly<Record<string, string>>;

/**
 * The only error class of the domain. `message` is public: it says what happened and what to do. Put what only
 * operators may see into `detail` or `cause`, which are never sent to clients.
 */
export class TowpathError extends Error {
  readonly code: ErrorCode;
  readonly fields: FieldProblems;
  readonly detail: unknown;
  /** When to try again, for `limit_reached`. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    more: {
      readonly fields?: FieldProblems;
      readonly detail?: unknown;
      readonly cause?: unknown;
      readonly retryAfterSeconds?: number;
    } = {},
  ) {
    super(message, { cause: more.cause });
    this.name = "TowpathError";
    this.code = code;
    this.fields = more.fields ?? {};
    this.detail = more.detail;
    this.retryAfterSeconds = more.retryAfterSeconds;
  }

  /** HTTP status for responses. */
  get httpStatus(): number {
    return statusOf[this.code];
  }
}

/** Use the same error for "does not exist" and "belongs to others", so that names can't be probed. */
export const notFound = (what: string) => new TowpathError("not_found", `Not Found: there is no such ${what}.`);

/** PostgreSQL's codes for a text with NUL, as text and in JSON: `character_not_in_repertoire`, `untranslatable_character`. */
const nulCodes: ReadonlySet<unknown> = new Set(["22021", "22P05"]);

/** Whether PostgreSQL refused a text with NUL, which no column can hold and no search can find. */
function refusesNul(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ("code" in error && nulCodes.has(error.code)) || refusesNul(error.cause);
}

/**
 * Wraps any other error, a bug or an outage, as `internal`; the original goes only to the log. A text with NUL is its
 * caller's mistake.
 */
export function asTowpathError(error: unknown): TowpathError {
  if (error instanceof TowpathError) return error;
  if (refusesNul(error))
    return new TowpathError("invalid_input", "A text has a NUL character, which can't be stored. Remove it.", {
      cause: error,
    });
  return new TowpathError(
    "internal",
    "Something went wrong on our side. Try again; if the problem persists, ask the operator.",
    {
      cause: error,
    },
  );
}
