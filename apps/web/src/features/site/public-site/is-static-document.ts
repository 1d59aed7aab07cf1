import type { AnyRouteMatch } from "@tanstack/react-router";

/**
 * Whether the page is sent without the app's scripts, like the public site for visitors: by `isStatic` in its route's
 * context. Never for a failed page, whose screen has buttons.
 */
export function isStaticDocument(matches: readonly AnyRouteMatch[]): boolean {
  return (
    matches.some(({ context }) => (context as { isStatic?: boolean }).isStatic === true) &&
    matches.every(({ status }) => status !== "error")
  );
}
