import { useCallback, useEffect, useRef, useState } from "react";
import { toast } from "./toast.ts";

/**
 * The module for `open` content, null until loaded, and a function that preloads it. Unlike `React.lazy`, a failed load
 * leaves the page as it is, shows the failure and calls `close`; the next opening tries again.
 */
export function useLazyModule<Module>(
  load: () => Promise<Module>,
  open: boolean,
  close: () => void,
): readonly [Module | null, () => void] {
  const [module, setModule] = useState<{ readonly loaded: Module } | null>(null);
  const isLoading = useRef(false);
  const latest = useRef({ load, open, close });
  useEffect(() => {
    latest.current = { load, open, close };
  });
  const preload = useCallback(() => {
    if (isLoading.current) return;
    isLoading.current = true;
    latest.current.load().then(
      (loaded) => setModule({ loaded }),
      () => {
        isLoading.current = false;
        if (!latest.current.open) return;
        toast.error("This part of the page couldn't be loaded. Check your connection and try again.");
        latest.current.close();
      },
    );
  }, []);
  useEffect(() => {
    if (open) preload();
  }, [open, preload]);
  return [module?.loaded ?? null, preload];
}
