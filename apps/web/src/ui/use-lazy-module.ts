import { useCallback, useEffect, useRef, useState } from "react";
import { toast } from "./toast.ts";

/**
 * The module for `open` content, null until loaded, and a function that preloads it. Unlike `React.lazy`, a failed load
 * leaves the page as it is, shows the failure and calls `setOpen` with false; the next opening tries again.
 */
export function useLazyModule<Module>(
  load: () => Promise<Module>,
  open: boolean,
  setOpen: (open: false) => void,
): readonly [Module | null, () => void] {
  const [module, setModule] = useState<{ readonly loaded: Module } | null>(null);
  const isLoading = useRef(false);
  const latest = useRef({ load, open, setOpen });
  useEffect(() => {
    latest.current = { load, open, setOpen };
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
        latest.current.setOpen(false);
      },
    );
  }, []);
  useEffect(() => {
    if (open) preload();
  }, [open, preload]);
  return [module?.loaded ?? null, preload];
}
