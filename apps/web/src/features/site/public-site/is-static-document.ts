import type { AnyRouteMatch } from "@tanstack/react-router";

/**
 * Whether the page is sent without the app's scripts, as visitors get the public site: a route says so with
 * `isStatic` in its context. Never for a page that failed: its screen has buttons.
 */
export function isStaticDocument(matches: readonly AnyRouteMatch[]): boolean {
  return (
    matches.some(({ context }) => (context as { isStatic?: boolean }).isStatic === true) &&
    matches.every(({ status }) => status !== "error")
  );
}
