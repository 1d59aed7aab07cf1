import { useHydrated } from "@tanstack/react-router";
import { type ComponentType, memo, type ReactNode, Suspense, use, useEffect, useMemo, useRef, useState } from "react";
import { onFirstInput } from "./first-input.ts";
import { lazyPart, type Part } from "./lazy-part.tsx";

/** A part that is this near to the visible page is loaded. */
const nearPixels = 200;

type Gate = { readonly opened: Promise<void>; readonly open: () => void };

function closedGate(): Gate {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

/**
 * A lazy part far down a page. Where the server has rendered it, the browser leaves it as it came until a person does
 * something or it is nearly in view, so that a first visit is without its code. Elsewhere it is like any lazy part: await
 * `preload` before going to a page with one.
 */
export function latePart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  pending: ReactNode = null,
): Part<Props> {
  const Inner = lazyPart(load, pending);
  // biome-ignore lint/correctness/noComponentHookFactories: called once for each part, by its module
  function LatePart(props: Props) {
    const place = useRef<HTMLDivElement>(null);
    const isHydrating = !useHydrated() && typeof document !== "undefined";
    const [gate] = useState(() => (isHydrating ? closedGate() : null));
    useEffect(() => {
      const element = place.current;
      if (gate === null || element === null) return;
      const view = new IntersectionObserver((entries) => entries.some((each) => each.isIntersecting) && gate.open(), {
        rootMargin: `${nearPixels}px`,
      });
      view.observe(element);
      element.addEventListener("focusin", gate.open);
      const stopWaiting = onFirstInput(gate.open);
      const end = () => {
        view.disconnect();
        element.removeEventListener("focusin", gate.open);
        stopWaiting();
      };
      void gate.opened.then(end);
      return end;
    }, [gate]);
    // The same elements with the same props: an update of a part that is still as it came would render it again.
    const part = useMemo(
      () => (
        <Suspense fallback={<Replaced gate={gate}>{pending}</Replaced>}>
          <Opened gate={gate}>
            <Inner {...props} />
          </Opened>
        </Suspense>
      ),
      [gate, props],
    );
    return <div ref={place}>{part}</div>;
  }
  return Object.assign(memo(LatePart), { preload: Inner.preload }) as unknown as Part<Props>;
}

/** In the place of what the server rendered, when an update of the page came first: then nothing is left to wait for. */
function Replaced({ gate, children }: { readonly gate: Gate | null; readonly children: ReactNode }) {
  useEffect(() => gate?.open(), [gate]);
  return children;
}

function Opened({ gate, children }: { readonly gate: Gate | null; readonly children: ReactNode }) {
  if (gate) use(gate.opened);
  return children;
}
