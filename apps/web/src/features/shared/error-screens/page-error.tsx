import { useQueryClient, useQueryErrorResetBoundary } from "@tanstack/react-query";
import { type ErrorComponentProps, useRouter } from "@tanstack/react-router";
import { type ReactNode, useCallback } from "react";
import { isTowpathErrorCode } from "~/http/errors.ts";
import { Button } from "~/ui/button.tsx";
import { classifyError } from "~/ui/classify-error.ts";
import { ErrorScreen } from "~/ui/error-screen.tsx";
import { lazyPart } from "~/ui/lazy-part.tsx";
import { Main } from "~/ui/main.tsx";
import { RenderError } from "./error-screens.tsx";
import { failureTitle } from "./failure-title.ts";
import { isOfflineFailure, OfflinePage } from "./offline.tsx";

// The server has just answered: this can be loaded, too.
const SignedOut = lazyPart(async () => (await import("~/features/shared/session/signed-out.tsx")).SignedOut);

/**
 * The router's `defaultErrorComponent`. Errors of loaders, guards and queries get ERR-1, ERR-2 or ERR-3, or the page
 * for an ended session. All others were thrown while rendering (ERR-4).
 */
export function PageError({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const queryClient = useQueryClient();
  const { reset: resetQueries } = useQueryErrorResetBoundary();
  const isOfRoute = router.state.matches.some((match) => match.error === error);
  const isOfQuery = queryClient
    .getQueryCache()
    .getAll()
    .some(({ state }) => state.error === error);
  const again = useCallback(async () => {
    resetQueries();
    reset?.();
    await router.invalidate();
  }, [resetQueries, reset, router]);
  if (isOfflineFailure(error))
    return (
      <Main>
        <OfflinePage again={again} />
      </Main>
    );
  if (!isOfRoute && !isOfQuery) return <RenderError error={error} reset={reset} />;
  const isOther = classifyError(error).kind === "other";
  return (
    <Main>
      {/* The route's own head doesn't know of failed queries. */}
      {isOfRoute ? null : <title>{failureTitle(error)}</title>}
      {isTowpathErrorCode(error, "unauthenticated") ? (
        <SignedOut />
      ) : (
        <ErrorScreen error={error} actions={isOther ? <Button onClick={again}>Try again</Button> : null} />
      )}
    </Main>
  );
}

/** `errorComponent` of a route with an own view for failures that are neither ERR-1 nor ERR-2. */
export function withOwnError(Own: (props: ErrorComponentProps) => ReactNode) {
  return function OwnError(props: ErrorComponentProps) {
    const isOwn = classifyError(props.error).kind === "other" && !isTowpathErrorCode(props.error, "unauthenticated");
    return isOwn ? <Own {...props} /> : <PageError {...props} />;
  };
}

/** `notFoundComponent` of a route with a more specific text than ERR-2. */
export function PageNotFound({ reason, actions }: { readonly reason?: ReactNode; readonly actions?: ReactNode }) {
  return (
    <Main>
      <ErrorScreen kind="not-found" reason={reason} actions={actions} />
    </Main>
  );
}
