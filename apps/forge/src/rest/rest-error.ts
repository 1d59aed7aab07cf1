export type RestErrorStatus = 400 | 401 | 403 | 404 | 409 | 413 | 422;

/** An answer of the REST API that is no success; GitHub's body shape. */
export class RestError extends Error {
  override readonly name = "RestError";
  readonly status: RestErrorStatus;
  readonly errors: readonly { resource: string; code: string; field: string; message: string }[];

  constructor(status: RestErrorStatus, message: string, errors: RestError["errors"] = []) {
    super(message);
    this.status = status;
    this.errors = errors;
  }
}
