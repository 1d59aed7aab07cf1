import { useState } from "react";
import { failureText } from "./toast.ts";

/** State of a form or control that saves: `save` does the work; `failure` says why it wasn't done, until the next try. */
export function useSaving() {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const save = async (work: () => Promise<unknown>) => {
    setBusy(true);
    setFailure(null);
    try {
      await work();
    } catch (error) {
      setFailure(failureText(error));
    } finally {
      setBusy(false);
    }
  };
  return { busy, failure, setFailure, save };
}
