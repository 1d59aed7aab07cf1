import { QueryClient } from "@tanstack/react-query";
import { createRouter } from "@tanstack/react-router";
import { setupRouterSsrQueryIntegration } from "@tanstack/react-router-ssr-query";
import { getGlobalStartContext } from "@tanstack/react-start";
import { TowpathError } from "@towpath/core/errors";
import { DocumentBoundary, RenderError, UnmatchedRoute } from "./features/error-screens/error-screens.tsx";
import type { RouterContext } from "./features/session/guards.ts";
import { routeTree } from "./routeTree.gen.ts";

/** UI-3: three retries, after 1, 2 and 4 seconds. Most TowpathErrors are final; only these two codes are worth a retry. */
const retry = (failures: number, error: unknown) =>
  failures < 3 &&
  (!(error instanceof TowpathError) || error.code === "internal" || error.code === "upstream_unavailable");

const retryDelay = (attempt: number) => Math.min(1000 * 2 ** attempt, 30_000);

export function getRouter() {
  const queryClient = new QueryClient({
    defaultOptions: {
      queries: { retry: typeof window === "undefined" ? false : retry, retryDelay },
      // A mutation made offline fails at once with a message. It must not run later, when nobody expects it.
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
    // The query cache alone decides what is fresh (AUTH-9).
    defaultPreloadStaleTime: 0,
    defaultPendingMs: 1000,
    defaultPendingMinMs: 500,
    // Replaces the library's global error screen, which has no styles.
    InnerWrap: DocumentBoundary,
    disableGlobalCatchBoundary: true,
    defaultErrorComponent: RenderError,
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
