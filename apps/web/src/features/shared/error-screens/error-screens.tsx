import { CatchBoundary, type ErrorComponentProps } from "@tanstack/react-router";
import { type ReactNode, useEffect, useLayoutEffect, useState } from "react";
import styles from "~/styles.css?url";
import { Button, buttonLook } from "~/ui/button.tsx";
import { ErrorScreen } from "~/ui/error-screen.tsx";
import { Main } from "~/ui/main.tsx";
import { addShownError } from "~/ui/shown-errors.ts";
import { themeChanged } from "~/ui/theme.ts";

/** Wraps the whole document. When even its shell fails, the replacement brings its own head and styles. */
export function DocumentBoundary({ children }: { children: ReactNode }) {
  return (
    <CatchBoundary getResetKey={() => "document"} errorComponent={DocumentError}>
      {children}
    </CatchBoundary>
  );
}

/** ERR-4 as a whole document. */
export function DocumentError(props: ErrorComponentProps) {
  // The theme was set on the failed document's root element; its script still listens and sets it again.
  useLayoutEffect(() => {
    dispatchEvent(new Event(themeChanged));
  }, []);
  return (
    <html lang="en" suppressHydrationWarning>
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>Something went wrong · Towpath</title>
        <link rel="stylesheet" href={styles} />
      </head>
      <body>
        <RenderError {...props} />
      </body>
    </html>
  );
}

/** ERR-4: an uncaught error. Links home without the router, which may have failed. */
export function RenderError({ error }: ErrorComponentProps) {
  const [shown, setShown] = useState(false);
  useEffect(() => addShownError(error), [error]);
  return (
    <Main className="mx-auto flex w-full max-w-xl flex-col items-start gap-4 px-4 py-16 sm:py-24">
      <h1 className="text-2xl font-semibold tracking-tight">Something went wrong!</h1>
      <p className="text-base text-muted">This page could not be shown. Reload it, or go back to the home page.</p>
      <div className="flex flex-wrap gap-2">
        <a href="/" className={buttonLook({ variant: "primary" })}>
          Return Home
        </a>
        <Button onClick={() => setShown(!shown)} aria-expanded={shown}>
          {shown ? "Hide Error" : "Show Error"}
        </Button>
      </div>
      {shown ? (
        <pre className="scroll-thin w-full overflow-auto rounded-md border bg-sunken p-3 text-xs whitespace-pre-wrap">
          {error instanceof Error ? error.message : String(error)}
        </pre>
      ) : null}
    </Main>
  );
}

/** ERR-4 and ERR-2: no route matches, or the resource doesn't exist for this user. */
export function UnmatchedRoute() {
  return (
    <Main>
      <p className="sr-only">Not Found</p>
      <ErrorScreen kind="not-found" />
    </Main>
  );
}
