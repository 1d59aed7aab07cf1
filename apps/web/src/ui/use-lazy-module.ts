import { useCallback, useRef, useState } from "react";
import { toast } from "./toast.ts";

/**
 * A module that is loaded when it is first wanted: null until then. Other than with `React.lazy`, a failed load leaves the
 * page as it is, says so, and can be repeated.
 */
export function useLazyModule<Module>(load: () => Promise<Module>): readonly [Module | null, () => void] {
  const [module, setModule] = useState<{ readonly loaded: Module } | null>(null);
  const isLoading = useRef(false);
  const latest = useRef(load);
  const want = useCallback(() => {
    if (isLoading.current) return;
    isLoading.current = true;
    latest.current().then(
      (loaded) => setModule({ loaded }),
      () => {
        isLoading.current = false;
        toast.error("This part of the page couldn't be loaded. Check your connection and try again.");
      },
    );
  }, []);
  return [module?.loaded ?? null, want];
}
