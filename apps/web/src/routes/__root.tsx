import { createRootRouteWithContext, HeadContent, Outlet, ScriptOnce, Scripts } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useSyncExternalStore } from "react";
import type { RouterContext } from "~/router.tsx";
import styles from "~/styles.css?url";
import { themeScript } from "~/ui/theme.ts";
import { toastsWanted } from "~/ui/toast.ts";

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
        <Toasts />
        <Scripts />
      </body>
    </html>
  );
}

/** Comes with the first toast, which calls for it. */
function Toasts() {
  const isWanted = useSyncExternalStore(toastsWanted.subscribe, toastsWanted.get, toastsWanted.getOnServer);
  return isWanted ? (
    <Suspense>
      <Toaster />
    </Suspense>
  ) : null;
}
