import { QueryCache, QueryClient } from "@tanstack/react-query";
import { createRouter } from "@tanstack/react-router";
import { setupRouterSsrQueryIntegration } from "@tanstack/react-router-ssr-query";
import { getGlobalStartContext } from "@tanstack/react-start";
import { DocumentBoundary, UnmatchedRoute } from "~/features/shared/error-screens/error-screens.tsx";
import { PageError } from "~/features/shared/error-screens/page-error.tsx";
import type { RouterContext } from "~/features/shared/session/guards.ts";
import { onRefusal, throwsForbidden } from "~/features/shared/session/lost-access.ts";
import { queryRetries } from "./query-retries.ts";
import { routeTree } from "./routeTree.gen.ts";

export function getRouter() {
  const isServer = typeof window === "undefined";
  const queryClient: QueryClient = new QueryClient({
    queryCache: new QueryCache({
      onError: (error, query) => (isServer ? undefined : onRefusal(queryClient, error, query)),
    }),
    defaultOptions: {
      queries: { throwOnError: throwsForbidden, ...(isServer ? { retry: false } : queryRetries) },
      // An offline mutation fails at once with a message, and never runs later unexpectedly.
      mutations: { networkMode: "always" },
    },
  });
  const nonce = getGlobalStartContext()?.nonce;
  const router = createRouter({
    routeTree,
    context: { queryClient } satisfies RouterContext,
    scrollRestoration: true,
    defaultPreload: "intent",
    defaultPreloadDelay: 50,
    // Only the query cache decides what is fresh (AUTH-9).
    defaultPreloadStaleTime: 0,
    // UI-3. Navigation to a page without its own pending view keeps the old page on screen.
    defaultPendingMs: 1000,
    defaultPendingMinMs: 500,
    // Replaces the library's global error screen, which has no styles.
    InnerWrap: DocumentBoundary,
    disableGlobalCatchBoundary: true,
    defaultErrorComponent: PageError,
    defaultNotFoundComponent: UnmatchedRoute,
    ...(nonce ? { ssr: { nonce } } : {}),
  });
  setupRouterSsrQueryIntegration({ router, queryClient });
  return router;
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof getRouter>;
  }
}
