import { z } from "zod";
import { GitHubError, type GitHubErrorCode } from "./errors.ts";

const errorBodySchema = z.object({
  message: z.string().default(""),
  errors: z.array(z.object({ field: z.string().nullish(), message: z.string().nullish() })).catch([]),
});

/** GitHub has no code for a taken repository name, only this field and text. Upstream wording stays in this one place. */
function saysNameTaken(errors: z.infer<typeof errorBodySchema>["errors"]): boolean {
  return errors.some((error) => error.field === "name" && /already exists/i.test(error.message ?? ""));
}

/** Primary limits come as 403 or 429 with nothing remaining, secondary ones with a Retry-After. */
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

/** Turns an answer outside 2xx into the error of its kind. `call` names method and path for the log. */
export function errorFromResponse(call: string, response: Response, bodyText: string): GitHubError {
  let json: unknown = {};
  try {
    json = JSON.parse(bodyText);
  } catch {
    // A proxy's HTML page; the status says enough.
  }
  const parsed = errorBodySchema.safeParse(json);
  const body = parsed.success ? parsed.data : { message: "", errors: [] };
  return new GitHubError(codeOf(response, body), {
    status: response.status,
    detail: `${call} answered ${response.status} ${body.message.slice(0, 300)}`.trim(),
    retryAfter: retryAfter(response),
  });
}
