/** Every way in which a verb can refuse or fail. Surfaces map these codes and never compare messages. */
const errorCodes = [
  "unauthenticated",
  "forbidden",
  "not_found",
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
  invalid_input: 422,
  conflict: 409,
  limit_reached: 429,
  out_of_storage: 507,
  upstream_unavailable: 502,
  not_configured: 501,
  internal: 500,
};

/** Which field of the input is wrong, by its path, with the text to show beside it. */
export type FieldProblems = Readonly<Record<string, string>>;

/**
 * The one error of the domain. `message` is public: it says what happened and what to do. What only operators may
 * see goes into `detail` or `cause`, which no surface sends out.
 */
export class TowpathError extends Error {
  readonly code: ErrorCode;
  readonly fields: FieldProblems;
  readonly detail: unknown;

  constructor(
    code: ErrorCode,
    message: string,
    more: { readonly fields?: FieldProblems; readonly detail?: unknown; readonly cause?: unknown } = {},
  ) {
    super(message, { cause: more.cause });
    this.name = "TowpathError";
    this.code = code;
    this.fields = more.fields ?? {};
    this.detail = more.detail;
  }

  /** The HTTP status that every HTTP surface answers with. */
  get httpStatus(): number {
    return statusOf[this.code];
  }
}

/** Same answer for "does not exist" and "is not yours", so that names can't be probed. */
export const notFound = (what: string) => new TowpathError("not_found", `Not Found: there is no such ${what}.`);

/** Everything that is no TowpathError is a bug or an outage: the text says so, the original goes to the log only. */
export function asTowpathError(error: unknown): TowpathError {
  if (error instanceof TowpathError) return error;
  return new TowpathError("internal", "Something went wrong on our side. Try again; if it stays, ask the operator.", {
    cause: error,
  });
}
