import { TowpathError } from "@towpath/core/errors";
import { useState } from "react";
import { failureText } from "~/ui/toast.ts";

/** Problems of a form: by field, and of the form as a whole under `form`. */
export type Problems = Readonly<Record<string, string>>;

/** Runs the work of a form, one at a time, and keeps what was wrong. */
export function useSubmit() {
  const [problems, setProblems] = useState<Problems>({});
  const [busy, setBusy] = useState(false);
  const run = async (work: () => Promise<void>): Promise<void> => {
    if (busy) return;
    setBusy(true);
    setProblems({});
    try {
      await work();
    } catch (error) {
      const fields = error instanceof TowpathError ? error.fields : {};
      setProblems(Object.keys(fields).length > 0 ? fields : { form: failureText(error) });
    } finally {
      setBusy(false);
    }
  };
  return { problems, busy, run, clear: () => setProblems({}) };
}
