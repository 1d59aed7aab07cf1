import {
  ClientOnly,
  createRootRouteWithContext,
  HeadContent,
  Outlet,
  ScriptOnce,
  Scripts,
} from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense } from "react";
import type { RouterContext } from "~/router.tsx";
import styles from "~/styles.css?url";
import { themeScript } from "~/ui/theme.ts";

/** Nothing is told before a page is alive, so this may come after it. */
const Toaster = lazy(() => import("~/ui/toaster.tsx").then(({ Toaster: component }) => ({ default: component })));

export const Route = createRootRouteWithContext<RouterContext>()({
  head: () => ({
    meta: [
      { charSet: "utf-8" },
      { name: "viewport", content: "width=device-width, initial-scale=1" },
      { title: "Towpath" },
      { name: "color-scheme", content: "light dark" },
    ],
    links: [
      { rel: "stylesheet", href: styles },
      { rel: "icon", href: "/favicon.svg", type: "image/svg+xml" },
    ],
  }),
  shellComponent: Shell,
  component: Outlet,
});

function Shell({ children }: { readonly children: ReactNode }) {
  return (
    <html lang="en" suppressHydrationWarning>
      <head>
        <ScriptOnce>{themeScript}</ScriptOnce>
        <HeadContent />
      </head>
      <body>
        <div id="app">{children}</div>
        <ClientOnly>
          <Suspense>
            <Toaster />
          </Suspense>
        </ClientOnly>
        <Scripts />
      </body>
    </html>
  );
}
