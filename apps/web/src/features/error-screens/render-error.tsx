import type { ErrorComponentProps } from "@tanstack/react-router";
import { useState } from "react";
import { Button, buttonLook } from "~/ui/button.tsx";

/** ERR-4: an error that nothing nearer has caught. A plain link home: the router itself may be what failed. */
export function RenderError({ error }: ErrorComponentProps) {
  const [shown, setShown] = useState(false);
  return (
    <main className="mx-auto flex w-full max-w-xl flex-col items-start gap-4 px-4 py-16 sm:py-24">
      <h1 className="text-2xl font-semibold tracking-tight">Something went wrong!</h1>
      <p className="text-base text-muted">This page could not be shown. Reload it, or go back to the start.</p>
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
    </main>
  );
}
