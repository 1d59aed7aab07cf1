import sans from "@fontsource-variable/geist/files/geist-latin-wght-normal.woff2?url";
import {
  Asset,
  createRootRouteWithContext,
  Outlet,
  ScriptOnce,
  Scripts,
  useMatches,
  useRouter,
  useTags,
} from "@tanstack/react-router";
import { getGlobalStartContext } from "@tanstack/react-start";
import { lazy, type ReactNode, Suspense, useEffect, useSyncExternalStore } from "react";
import { startErrorReporting } from "~/features/shared/error-reporting/start-error-reporting.ts";
import { isMissing, titleOfFailed } from "~/features/shared/error-screens/failure-title.ts";
import { keepDocumentOffline } from "~/features/shared/error-screens/offline.tsx";
import type { RouterContext } from "~/features/shared/session/guards.ts";
import { isStaticDocument } from "~/features/site/public-site/is-static-document.ts";
import { notFoundHead } from "~/features/site/public-site/page-head.ts";
import styles from "~/styles.css?url";
import { themeScript } from "~/ui/theme.ts";
import { toasterRequest } from "~/ui/toast.ts";

// The first toast often reports a network failure. The Toaster can't load then either, which must not break the page.
const Toaster = lazy(() =>
  import("~/ui/toaster.tsx").then(
    ({ Toaster: component }) => ({ default: component }),
    () => ({ default: ToasterUnavailable }),
  ),
);

export const Route = createRootRouteWithContext<RouterContext>()({
  head: ({ matches }) => ({
    meta: [
      { charSet: "utf-8" },
      { name: "viewport", content: "width=device-width, initial-scale=1" },
      ...(matches.some(isMissing) ? notFoundHead.meta : [{ title: "Towpath" }]),
      { name: "color-scheme", content: "light dark" },
    ],
    links: [
      { rel: "stylesheet", href: styles },
      { rel: "preload", href: sans, as: "font", type: "font/woff2", crossOrigin: "anonymous" },
      { rel: "icon", href: "/favicon.svg", type: "image/svg+xml" },
    ],
  }),
  shellComponent: Shell,
  component: Outlet,
});

function Shell({ children }: { readonly children: ReactNode }) {
  const isStatic = useMatches({ select: isStaticDocument });
  return (
    <html lang="en" suppressHydrationWarning>
      <head>
        {/* Only the server renders it: its text would be in the browser's script, too. */}
        {import.meta.env.SSR ? <ScriptOnce>{themeScript}</ScriptOnce> : null}
        <ThirdParties />
        <Head />
      </head>
      <body>
        <div id="app">{children}</div>
        {isStatic ? null : (
          <>
            <Toasts />
            <ErrorReporting />
            <Scripts />
          </>
        )}
      </body>
    </html>
  );
}

/** The router's `HeadContent`, except that a failed page doesn't get its route's title. */
function Head() {
  const router = useRouter();
  const tags = useTags();
  const title = useMatches({ select: (matches) => titleOfFailed(router, matches) });
  return tags.map((tag) => (
    <Asset
      {...(tag.tag === "title" && title !== null ? { ...tag, children: title } : tag)}
      key={`tag-${JSON.stringify(tag)}`}
      nonce={router.options.ssr?.nonce}
    />
  ));
}

/** Settings and tags of third parties that the operator has configured (ERR-6). Rendered by the server only. */
function ThirdParties() {
  const script = getGlobalStartContext()?.thirdParties;
  return script ? <ScriptOnce>{script}</ScriptOnce> : null;
}

function ErrorReporting() {
  const router = useRouter();
  useEffect(() => void startErrorReporting(router), [router]);
  useEffect(keepDocumentOffline, []);
  return null;
}

/** In place of a Toaster that could not be loaded. */
function ToasterUnavailable() {
  return (
    <p
      role="alert"
      className="fixed right-4 bottom-4 z-50 max-w-[calc(100vw-2rem)] rounded-lg border bg-raised px-4 py-3 text-sm shadow-pop"
    >
      Towpath can't be reached. Reload the page and try again.
    </p>
  );
}

/** Loads the Toaster with the first toast. */
function Toasts() {
  const isRequested = useSyncExternalStore(toasterRequest.subscribe, toasterRequest.get, toasterRequest.getOnServer);
  return isRequested ? (
    <Suspense>
      <Toaster />
    </Suspense>
  ) : null;
}
