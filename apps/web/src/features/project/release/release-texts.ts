import type { GradualReleaseView, ReleaseFigures } from "@towpath/core/delivery/gradual-release/schema";

const minuteMs = 60_000;
const dayMinutes = 24 * 60;

/** How long a release has been at its step, and what it waits for. `now`: milliseconds since 1970. */
export function nextStepText(release: GradualReleaseView, figures: ReleaseFigures | null, now: number): string {
  const elapsed = now - new Date(release.stepStartedAt).getTime();
  const leftMinutes = Math.ceil((release.minutesPerStep * minuteMs - elapsed) / minuteMs);
  const missing = release.minCalls - (figures?.candidate.calls ?? 0);
  const next = release.steps[release.step + 1];
  const goal = next === undefined ? "All sessions" : `${next} % of new sessions`;
  if (leftMinutes > 0) {
    const calls = missing > 0 ? ` if the new version has had ${release.minCalls} calls by then` : "";
    return `${goal} in ${leftMinutes === 1 ? "a minute" : `${leftMinutes} minutes`}${calls}.`;
  }
  if (missing > 0) {
    const waits = `${goal} once the new version has had ${missing} more ${missing === 1 ? "call" : "calls"}.`;
    const days = Math.floor(-leftMinutes / dayMinutes);
    if (days < 1) return waits;
    return `${waits} It has waited for ${days === 1 ? "a day" : `${days} days`}: decide yourself if there are too few callers.`;
  }
  return `${goal} within seconds.`;
}

/** When a release goes back by itself. */
export function bandText({ maxErrorPoints, maxLatencyFactor }: GradualReleaseView): string {
  const points = `${maxErrorPoints} percentage ${maxErrorPoints === 1 ? "point" : "points"}`;
  return `It goes back by itself when its errors are more than ${points} above the live version's, or its p95 latency is more than ${maxLatencyFactor} times as long.`;
}

/** "3 (2.4 %)". */
export function errorsText({ calls, errors }: ReleaseFigures["stable"]): string {
  if (calls === 0) return "–";
  return errors === 0 ? "0" : `${errors} (${Math.round((1000 * errors) / calls) / 10} %)`;
}
