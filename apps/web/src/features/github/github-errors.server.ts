import { type ErrorCode, TowpathError } from "@towpath/core/errors";
import { type GitHubErrorCode, isGitHubError } from "@towpath/github";

const codes: Record<GitHubErrorCode, ErrorCode> = {
  not_found: "not_found",
  unauthorized: "conflict",
  forbidden: "conflict",
  rate_limited: "limit_reached",
  name_taken: "conflict",
  conflict: "conflict",
  invalid: "invalid_input",
  unavailable: "upstream_unavailable",
  unexpected: "upstream_unavailable",
};

/**
 * Runs calls to GitHub; what goes wrong there becomes a TowpathError with GitHub's public text. GitHub's "forbidden"
 * is about its own permissions and not about ours, so it must not read as our Access Denied.
 */
export async function withGitHub<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!isGitHubError(error)) throw error;
    throw new TowpathError(codes[error.code], error.publicText, { cause: error, detail: error.message });
  }
}
