import type { AnyRouteMatch, AnyRouter } from "@tanstack/react-router";
import { isTowpathErrorCode } from "~/http/errors.ts";
import { classifyError } from "~/ui/classify-error.ts";

const titles = { forbidden: "Access Denied", "not-found": "Page Not Found", other: "Something went wrong" } as const;

export function failureTitle(error: unknown): string {
  const text = isTowpathErrorCode(error, "unauthenticated") ? "Signed out" : titles[classifyError(error).kind];
  return `${text} · Towpath`;
}

/** Whether the page doesn't exist: its own screen says so, or no route matches the whole path. */
export const isMissing = ({ status, _notFound }: AnyRouteMatch): boolean => status === "notFound" || _notFound === true;

/**
 * The title of a page with an error screen, which replaces its route's title; null for other pages. Routes with their
 * own error view keep theirs, and missing pages outside of the app have PUB-8's.
 */
export function titleOfFailed(router: AnyRouter, matches: readonly AnyRouteMatch[]): string | null {
  const failed = matches.find((match) => match.status === "error" || isMissing(match));
  if (!failed) return null;
  if (isMissing(failed)) return failed.routeId.startsWith("/$orgSlug") ? failureTitle({ status: 404 }) : null;
  const hasOwn = router.routesById[failed.routeId]?.options.errorComponent !== undefined;
  return hasOwn && classifyError(failed.error).kind === "other" ? null : failureTitle(failed.error);
}
