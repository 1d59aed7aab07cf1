import type { ErrorComponentProps } from "@tanstack/react-router";
import { useState } from "react";

/** ERR-4: an error that nothing nearer has caught. */
export function RenderError({ error }: ErrorComponentProps) {
  const [shown, setShown] = useState(false);
  return (
    <main className="mx-auto max-w-xl px-6 py-24">
      <h1 className="text-xl font-semibold">Something went wrong!</h1>
      <button type="button" className="mt-4 underline" onClick={() => setShown(!shown)} aria-expanded={shown}>
        {shown ? "Hide Error" : "Show Error"}
      </button>
      {shown ? (
        <pre className="mt-4 overflow-auto text-sm">{error instanceof Error ? error.message : String(error)}</pre>
      ) : null}
    </main>
  );
}
