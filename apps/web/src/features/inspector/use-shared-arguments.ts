import { useEffect, useRef, useState } from "react";
import { argumentsIn } from "./share/share-link.ts";

type Shared = { readonly item: string; readonly args: Record<string, unknown> };

/**
 * Arguments that the address carries for the item it names, once the page's script runs: the server never sees them.
 *
 * @param item null: none is shown
 */
export function useSharedArguments(item: string | null): Shared | null {
  const [shared, setShared] = useState<Shared | null>(null);
  const latest = useRef(item);
  latest.current = item;
  useEffect(() => {
    const read = () => {
      const args = argumentsIn(location.hash);
      if (args && latest.current !== null) setShared({ item: latest.current, args });
    };
    read();
    addEventListener("hashchange", read);
    return () => removeEventListener("hashchange", read);
  }, []);
  return shared;
}
