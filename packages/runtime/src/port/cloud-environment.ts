/** Variables that describe its deployment to a server (RUN-4). The build's inspection gets the same. */
export type CloudFacts = {
  /** Public base URL of the server, without /mcp. */
  readonly serverUrl: string;
  readonly commitSha: string;
  /** owner/name; null for code without a repository. */
  readonly repository: string | null;
  readonly environment: "production" | "preview";
};

/** The server's environment: its secrets, overridden by variables that a secret must not forge. */
export function cloudEnvironment(
  facts: CloudFacts,
  secrets: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  return {
    ...secrets,
    TOWPATH_CLOUD_URL: facts.serverUrl,
    // A package of the index has neither.
    ...(facts.repository !== null && {
      TOWPATH_CLOUD_GIT_COMMIT_SHA: facts.commitSha,
      TOWPATH_CLOUD_GIT_REPO: facts.repository,
    }),
    TOWPATH_CLOUD_ENVIRONMENT: facts.environment,
  };
}
