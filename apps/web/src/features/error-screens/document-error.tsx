import { CatchBoundary, type ErrorComponentProps } from "@tanstack/react-router";
import { type ReactNode, useLayoutEffect } from "react";
import styles from "~/styles.css?url";
import { themeChanged } from "~/ui/theme.ts";
import { RenderError } from "./render-error.tsx";

/** Around the whole document: when even its shell fails, what takes its place brings head and styles of its own. */
export function DocumentBoundary({ children }: { children: ReactNode }) {
  return (
    <CatchBoundary getResetKey={() => "document"} errorComponent={DocumentError}>
      {children}
    </CatchBoundary>
  );
}

/** ERR-4 as a whole document. */
export function DocumentError(props: ErrorComponentProps) {
  // With the failed document went the theme on its root element; the script that put it there still listens.
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
