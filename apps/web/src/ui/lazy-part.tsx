import { type ComponentType, createContext, lazy, type ReactNode, Suspense, useContext, useState } from "react";
import { Button } from "./button.tsx";
import { Callout } from "./callout.tsx";

export type Part<Props> = ComponentType<Props> & {
  /** Loads the code ahead, at a sign that it will be needed. Resolves once it is there or can't be loaded. */
  readonly preload: () => Promise<void>;
};

/** On the server: of parts of the pages that were loaded, those whose code is still being loaded. */
const onServer = new Set<Promise<void>>();

/**
 * Resolves once the server has the code of all parts of the pages that it has loaded. It would send one that it waits for
 * after what is below, which then moves.
 */
export async function partsLoaded(): Promise<void> {
  while (onServer.size > 0) await Promise.all(onServer);
}

const Again = createContext(() => {});

/**
 * A component whose code is loaded with its first render. Where it can't be loaded, a message with "Try again" is in its
 * place, and the page stays as it is. The server renders it as any other.
 *
 * `pending`: in its place while the code is loaded; as large as the part, so that nothing moves.
 */
export function lazyPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  pending: ReactNode = null,
): Part<Props> {
  const attempt = (): ComponentType<Props> =>
    lazy(() =>
      load().then(keep, (): { default: ComponentType<Props> } => {
        latest = attempt();
        return { default: NotLoadedPart };
      }),
    );
  // What is loaded renders at once, without `pending`.
  const keep = (component: ComponentType<Props>) => {
    latest = component;
    return { default: component };
  };
  let latest = attempt();
  // biome-ignore lint/correctness/noComponentHookFactories: called once for each part, by its module
  function LazyPart(props: Props) {
    const [Loaded, setLoaded] = useState(() => latest);
    return (
      <Again value={() => setLoaded(() => latest)}>
        <Suspense fallback={pending}>
          <Loaded {...props} />
        </Suspense>
      </Again>
    );
  }
  // A failed load shows with the first render.
  const preload = () =>
    load().then(
      (component) => void keep(component),
      () => {},
    );
  if (import.meta.env.SSR) {
    const loading = preload().then(() => void onServer.delete(loading));
    onServer.add(loading);
  }
  return Object.assign(LazyPart, { preload });
}

function NotLoadedPart() {
  const again = useContext(Again);
  return (
    <Callout
      tone="bad"
      title="This part of the page couldn't be loaded"
      actions={
        <Button size="sm" onClick={again}>
          Try again
        </Button>
      }
    >
      Check your connection.
    </Callout>
  );
}
