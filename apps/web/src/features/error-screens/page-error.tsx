import type { ErrorComponentProps } from "@tanstack/react-router";
import { ErrorScreen } from "~/ui/error-screen.tsx";

/** `errorComponent` of pages inside a layout: ERR-1, ERR-2 or ERR-3, by what was thrown. */
export function PageError({ error }: ErrorComponentProps) {
  return (
    <main>
      <ErrorScreen error={error} />
    </main>
  );
}
