import type { ReactNode } from "react";

/** In the place of a form that would be empty: says so, and leaves the buttons. */
export function NoArguments({ onSubmit, children }: { onSubmit: () => void; children: ReactNode }) {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      <p className="text-sm text-muted">No arguments</p>
      <div className="mt-4 flex flex-wrap items-center gap-2">{children}</div>
    </form>
  );
}
