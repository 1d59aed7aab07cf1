/** Permissions that Towpath needs: the manifest requests them, and health checks compare them. */
export const neededPermissions = {
  /** Builds read code; the quickstart writes the sample, and repositories of the instance continue there. */
  contents: "write",
  metadata: "read",
  /** Reports (BLD-8). */
  checks: "write",
  deployments: "write",
  pull_requests: "write",
  /** Both create a repository. */
  administration: "write",
  /** To find out who administers a GitHub organization and may connect its installation. */
  members: "read",
} as const;

/** Events that the worker acts on. GitHub sends those of installations to every App. */
export const neededEvents = ["push", "pull_request", "delete", "repository", "check_run"] as const;

/** Permissions that an App lacks, such as `checks: write`. */
export function missingPermissions(granted: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(neededPermissions)
    .filter(([name, access]) => granted[name] !== "write" && granted[name] !== "admin" && granted[name] !== access)
    .map(([name, access]) => `${name}: ${access}`);
}

export const missingEvents = (subscribed: readonly string[]): readonly string[] =>
  neededEvents.filter((event) => !subscribed.includes(event));
