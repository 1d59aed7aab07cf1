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
  if (!isServer) countFromHydration(router.options);
  return router;
}

type Hydrated = { readonly query: { readonly initial?: readonly { readonly state: { dataUpdatedAt: number } }[] } };

/**
 * The page's data is as new as the page: a browser that is slow to start, or whose clock is ahead, would ask for all of it
 * again at once.
 */
function countFromHydration(options: { hydrate?: ((dehydrated: Hydrated) => unknown) | undefined }): void {
  const { hydrate } = options;
  options.hydrate = (dehydrated) => {
    for (const { state } of dehydrated.query.initial ?? []) state.dataUpdatedAt &&= Date.now();
    return hydrate?.(dehydrated);
  };
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof getRouter>;
  }
}
