import { TowpathError } from "@towpath/core/errors";
import { useState } from "react";
import { failureText } from "~/ui/toast.ts";

/** Problems of a form: by field, and of the form as a whole under `form`. */
export type Problems = Readonly<Record<string, string>>;

/**
 * Runs the work of a form or control, one at a time, and keeps its problems until the next try. `run` returns whether
 * it succeeded; `refuse` shows problems that the form found itself.
 */
export function useSubmit() {
  const [problems, setProblems] = useState<Problems>({});
  const [busy, setBusy] = useState(false);
  const run = async (work: () => Promise<unknown>): Promise<boolean> => {
    if (busy) return false;
    setBusy(true);
    setProblems({});
    try {
      await work();
      return true;
    } catch (error) {
      const fields = error instanceof TowpathError ? error.fields : {};
      setProblems(Object.keys(fields).length > 0 ? fields : { form: failureText(error) });
      return false;
    } finally {
      setBusy(false);
    }
  };
  return {
    problems,
    /** Of the form as a whole. */
    failure: problems.form ?? null,
    /** The first problem, for forms that show problems in one place. */
    problem: Object.values(problems)[0] ?? null,
    busy,
    run,
    refuse: setProblems,
    clear: () => setProblems({}),
  };
}
