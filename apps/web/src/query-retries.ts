import { isNotFound, isRedirect } from "@tanstack/react-router";
import { TowpathError } from "@towpath/core/errors";

/**
 * Retries of a browser's query (UI-3): three, after 1, 2 and 4 seconds, with a cap of 30. Most TowpathErrors are final;
 * only these two codes are retried. A redirect or a not-found is an answer.
 */
export const queryRetries = {
  retry: (failures: number, error: unknown): boolean =>
    failures < 3 &&
    !isRedirect(error) &&
    !isNotFound(error) &&
    (!(error instanceof TowpathError) || error.code === "internal" || error.code === "upstream_unavailable"),
  retryDelay: (attempt: number): number => Math.min(1000 * 2 ** attempt, 30_000),
};
