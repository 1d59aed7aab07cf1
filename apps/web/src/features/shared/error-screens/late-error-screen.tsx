import { createIsomorphicFn } from "@tanstack/react-start";
import { type ComponentProps, Suspense } from "react";
import { ErrorScreen } from "~/ui/error-screen.tsx";
import { lazyPart, type Part } from "~/ui/lazy-part.tsx";

type Props = ComponentProps<typeof ErrorScreen>;

const screen = createIsomorphicFn()
  .server((): Part<Props> => {
    const onServer = (props: Props) => (
      <Suspense>
        <ErrorScreen {...props} />
      </Suspense>
    );
    return Object.assign(onServer, { preload: async () => {} });
  })
  .client((): Part<Props> => lazyPart(async () => (await import("~/ui/error-screen.tsx")).ErrorScreen));

/**
 * The screen for an error, whose code the browser loads with the first one. `preload` it before a failure, which may be the
 * network's.
 */
export const LateErrorScreen = screen();
