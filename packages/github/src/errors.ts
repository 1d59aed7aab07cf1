import { gitHubNotConfigured } from "@towpath/core/ports";
import { gitHubHostName } from "@towpath/core/sources/github-connection/schema";
import { z } from "zod";

/** All failures of calls to GitHub. Callers check the code, never the message. */
export type GitHubErrorCode =
  | "not_found"
  | "unauthorized"
  | "forbidden"
  | "rate_limited"
  | "name_taken"
  | "conflict"
  | "invalid"
  | "unavailable"
  | "unexpected"
  /** The instance has no App at all. */
  | "not_configured";

const publicTexts: Record<GitHubErrorCode, string> = {
  not_found: "GitHub can't find this, or the App has no access to it.",
  unauthorized: "GitHub rejected the credentials. Connect GitHub again.",
  forbidden: "GitHub denied access. The App may lack a permission, or access to the repository.",
  rate_limited: "GitHub's rate limit was exceeded. Try again in a few minutes.",
  name_taken: "This account already has a repository with this name.",
  conflict: "The repository was changed at the same time. Try again.",
  invalid: "GitHub rejected the request.",
  unavailable: "GitHub can't be reached right now. Try again in a minute.",
  unexpected: "GitHub sent an unexpected response. Try again; if the problem persists, ask the operator.",
  not_configured: gitHubNotConfigured().message,
};

export type GitHubErrorDetail = {
  /** HTTP status of the response; null when there was none. */
  readonly status?: number | null;
  /** For logs only: method, path and GitHub's message. Contains no token, query or body. */
  readonly detail?: string;
  /** When the rate limit ends; null if GitHub didn't say. */
  readonly retryAfter?: Date | null;
  /** The host's clock when it answered. */
  readonly date?: Date | null;
  /** The request's URL, whose host the text names. */
  readonly url?: string;
  readonly cause?: unknown;
};

/** `publicText` may be shown to users; `message` contains private detail for logs. */
export class GitHubError extends Error {
  readonly code: GitHubErrorCode;
  readonly publicText: string;
  readonly status: number | null;
  readonly retryAfter: Date | null;
  readonly date: Date | null;

  constructor(code: GitHubErrorCode, detail: GitHubErrorDetail = {}) {
    super(`${code}: ${detail.detail ?? publicTexts[code]}`, { cause: detail.cause });
    this.name = "GitHubError";
    this.code = code;
    this.publicText = publicTexts[code].replaceAll("GitHub", detail.url ? gitHubHostName(detail.url) : "GitHub");
    this.status = detail.status ?? null;
    this.retryAfter = detail.retryAfter ?? null;
    this.date = detail.date ?? null;
  }
}

export function isGitHubError(error: unknown, code?: GitHubErrorCode): error is GitHubError {
  return error instanceof GitHubError && (code === undefined || error.code === code);
}

const errorBodySchema = z.object({
  message: z.string().default(""),
  errors: z.array(z.object({ field: z.string().nullish(), message: z.string().nullish() })).catch([]),
});

/** GitHub has no error code for a repository name that is taken, only this field and text. */
function saysNameTaken(errors: z.infer<typeof errorBodySchema>["errors"]): boolean {
  return errors.some((error) => error.field === "name" && /already exists/i.test(error.message ?? ""));
}

/** Primary rate limits answer 403 or 429 with no requests remaining, secondary ones send Retry-After. */
function isRateLimit(response: Response): boolean {
  if (response.status === 429) return true;
  if (response.status !== 403) return false;
  return response.headers.get("x-ratelimit-remaining") === "0" || response.headers.has("retry-after");
}

function retryAfter(response: Response): Date | null {
  const seconds = Number(response.headers.get("retry-after"));
  if (seconds > 0) return new Date(Date.now() + seconds * 1000);
  const reset = Number(response.headers.get("x-ratelimit-reset"));
  return reset > 0 ? new Date(reset * 1000) : null;
}

function codeOf(response: Response, body: z.infer<typeof errorBodySchema>): GitHubErrorCode {
  if (isRateLimit(response)) return "rate_limited";
  switch (response.status) {
    case 401:
      return "unauthorized";
    case 403:
      return "forbidden";
    case 404:
    case 410:
      return "not_found";
    case 409:
      return "conflict";
    case 400:
    case 413:
      return "invalid";
    case 422:
      return saysNameTaken(body.errors) ? "name_taken" : "invalid";
    default:
      return response.status >= 500 ? "unavailable" : "unexpected";
  }
}

/** The host's clock, from its `Date` header. */
export function dateOf(response: Response): Date | null {
  const time = Date.parse(response.headers.get("date") ?? "");
  return Number.isNaN(time) ? null : new Date(time);
}

/** The error for a response outside 2xx. `call`: method and path, for the log; `url`: the request's. */
export function errorFromResponse(
  { call, url }: { readonly call: string; readonly url: string },
  response: Response,
  bodyText: string,
): GitHubError {
  let json: unknown = {};
  try {
    json = JSON.parse(bodyText);
  } catch {
    // Not JSON, such as a proxy's error page. The status decides.
  }
  const parsed = errorBodySchema.safeParse(json);
  const body = parsed.success ? parsed.data : { message: "", errors: [] };
  return new GitHubError(codeOf(response, body), {
    status: response.status,
    detail: `${call} answered ${response.status} ${body.message.slice(0, 300)}`.trim(),
    retryAfter: retryAfter(response),
    date: dateOf(response),
    url,
  });
}
