import { useState } from "react";
import { type NotPicked, type Picked, sizeProblem } from "./picked.ts";

/** The picked upload, or why it can't be uploaded. */
export function usePicked() {
  const [chosen, setChosen] = useState<Picked | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  return {
    chosen,
    problem,
    pick: (picked: Picked | NotPicked) => {
      const found = "problem" in picked ? picked.problem : sizeProblem(picked);
      setProblem(found);
      setChosen(found !== null || "problem" in picked ? null : picked);
    },
    forget: () => setChosen(null),
  };
}
