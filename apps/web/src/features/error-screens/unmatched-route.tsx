import { ErrorScreen } from "~/ui/error-screen.tsx";

/** ERR-4 and ERR-2: no route has this address, or what it names is not there for this user. */
export function UnmatchedRoute() {
  return (
    <main>
      <p className="sr-only">Not Found</p>
      <ErrorScreen kind="not-found" />
    </main>
  );
}
