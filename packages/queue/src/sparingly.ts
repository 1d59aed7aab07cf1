const everyMs = 10_000;
const maxRemembered = 100;

/** Passes on a problem only if one with the same text wasn't passed on in the last ten seconds: each poll may fail. */
export function sparingly(report: (problem: unknown) => void, now: () => number = () => performance.now()) {
  const reportedAt = new Map<string, number>();
  return (problem: unknown): void => {
    const text = textOf(problem);
    const time = now();
    if (time - (reportedAt.get(text) ?? Number.NEGATIVE_INFINITY) < everyMs) return;
    if (reportedAt.size >= maxRemembered) reportedAt.clear();
    reportedAt.set(text, time);
    report(problem);
  };
}

/** Without queue and worker, which pg-boss adds to the texts of errors. */
function textOf(problem: unknown): string {
  const hasMessage = typeof problem === "object" && problem !== null && "message" in problem;
  return String(hasMessage ? problem.message : problem).replace(/ \(Queue: .*\)$/, "");
}
