/** Every way in which a call to GitHub can fail. Callers branch on the code, never on a message. */
export type GitHubErrorCode =
  | "not_found"
  | "unauthorized"
  | "forbidden"
  | "rate_limited"
  | "name_taken"
  | "conflict"
  | "invalid"
  | "unavailable"
  | "unexpected";

const publicTexts: Record<GitHubErrorCode, string> = {
  not_found: "GitHub does not know this, or the App has no access to it.",
  unauthorized: "GitHub did not accept the credentials. Connect GitHub again.",
  forbidden: "GitHub did not allow this. The App may lack a permission, or access to the repository.",
  rate_limited: "GitHub's rate limit is used up. Try again in a few minutes.",
  name_taken: "A repository of this name exists already in this account.",
  conflict: "The repository was changed at the same time. Try again.",
  invalid: "GitHub did not accept the request.",
  unavailable: "GitHub cannot be reached at the moment. Try again in a minute.",
  unexpected: "GitHub gave an answer that was not understood.",
};

export type GitHubErrorDetail = {
  /** HTTP status of the answer, null when there was none. */
  readonly status?: number | null;
  /** For logs only: method, path and upstream message. Holds no token, query or body. */
  readonly detail?: string;
  /** When a rate limit ends, as far as the answer said so. */
  readonly retryAfter?: Date | null;
  /** Replaces the code's general public text where more can be said. */
  readonly publicText?: string;
  readonly cause?: unknown;
};

/** `publicText` may be shown to anybody; `message` carries private detail for logs. */
export class GitHubError extends Error {
  readonly code: GitHubErrorCode;
  readonly publicText: string;
  readonly status: number | null;
  readonly retryAfter: Date | null;

  constructor(code: GitHubErrorCode, detail: GitHubErrorDetail = {}) {
    super(`${code}: ${detail.detail ?? publicTexts[code]}`, { cause: detail.cause });
    this.name = "GitHubError";
    this.code = code;
    this.publicText = detail.publicText ?? publicTexts[code];
    this.status = detail.status ?? null;
    this.retryAfter = detail.retryAfter ?? null;
  }
}

export function isGitHubError(error: unknown, code?: GitHubErrorCode): error is GitHubError {
  return error instanceof GitHubError && (code === undefined || error.code === code);
}
