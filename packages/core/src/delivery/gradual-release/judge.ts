import type { ReleaseFigures, VersionFigures } from "./gradual-release.schema.ts";

/** What the new version's figures may be, compared with the live one's. */
export type Band = {
  readonly minutesPerStep: number;
  /** Percentage points. */
  readonly maxErrorPoints: number;
  readonly maxLatencyFactor: number;
  readonly minCalls: number;
};

export type Verdict =
  /** The step goes on: its time is not over, or the new version had too few calls to be judged. */
  { readonly kind: "wait" } | { readonly kind: "advance" } | { readonly kind: "back"; readonly reason: string };

/** Nobody notices a smaller difference, regardless of the factor: of two fast versions one is always slower. */
const noticeableMs = 50;

/**
 * Whether a release stays at its step, goes on or goes back, by the figures of this step. A version outside the band goes
 * back at once; one inside stays until the step's time is over. Latencies are compared once both have enough calls.
 *
 * @param elapsedMs since the step began
 */
export function judge(band: Band, { stable, candidate }: ReleaseFigures, elapsedMs: number): Verdict {
  if (candidate.calls < band.minCalls) return { kind: "wait" };
  const [before, now] = [errorPercent(stable), errorPercent(candidate)];
  if (now - before > band.maxErrorPoints) {
    const allowed = `${shown(band.maxErrorPoints)} ${band.maxErrorPoints === 1 ? "point" : "points"} more`;
    return {
      kind: "back",
      reason: `${shown(now)} % of its ${candidate.calls} calls failed, ${shown(before)} % of the live version's; ${allowed} would be allowed.`,
    };
  }
  const slow = stable.calls >= band.minCalls ? tooSlow(band, stable, candidate) : null;
  if (slow !== null) return { kind: "back", reason: slow };
  return { kind: elapsedMs >= band.minutesPerStep * 60_000 ? "advance" : "wait" };
}

function tooSlow({ maxLatencyFactor }: Band, stable: VersionFigures, candidate: VersionFigures): string | null {
  if (stable.p95Ms === null || candidate.p95Ms === null) return null;
  if (candidate.p95Ms <= stable.p95Ms * maxLatencyFactor) return null;
  if (candidate.p95Ms - stable.p95Ms <= noticeableMs) return null;
  return `95 % of its calls took up to ${Math.round(candidate.p95Ms)} ms, the live version's up to ${Math.round(stable.p95Ms)} ms; ${shown(maxLatencyFactor)} times as long would be allowed.`;
}

const errorPercent = ({ calls, errors }: VersionFigures): number => (calls === 0 ? 0 : (100 * errors) / calls);

/** At most one digit after the point. */
const shown = (value: number): string => String(Math.round(value * 10) / 10);
