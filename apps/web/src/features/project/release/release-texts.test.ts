import type { GradualReleaseView, ReleaseFigures } from "@towpath/core/delivery/gradual-release/schema";
import { expect, test } from "vitest";
import { errorsText, nextStepText } from "./release-texts.ts";

const begun = Date.parse("2026-11-27T10:00:00Z");
const release = {
  steps: [5, 25, 50],
  step: 0,
  minutesPerStep: 15,
  minCalls: 20,
  stepStartedAt: new Date(begun).toISOString(),
} as unknown as GradualReleaseView;
const figures = (calls: number): ReleaseFigures => {
  const version = { calls, errors: 0, p50Ms: null, p95Ms: null };
  return { stable: version, candidate: version };
};
const after = (minutes: number) => begun + minutes * 60_000;

test("CAP-8 the page says what a step waits for: its time, or calls of the new version", () => {
  expect(nextStepText(release, figures(20), after(3))).toBe("25 % of new sessions in 12 minutes.");
  expect(nextStepText(release, figures(20), after(14.5))).toBe("25 % of new sessions in a minute.");
  expect(nextStepText(release, figures(5), after(3))).toBe(
    "25 % of new sessions in 12 minutes if the new version has had 20 calls by then.",
  );
  expect(nextStepText(release, figures(19), after(40))).toBe(
    "25 % of new sessions once the new version has had 1 more call.",
  );
  expect(nextStepText(release, figures(0), after(3 * 24 * 60 + 20))).toBe(
    "25 % of new sessions once the new version has had 20 more calls. It has waited for 3 days: decide yourself if there are too few callers.",
  );
  expect(nextStepText({ ...release, step: 2 }, figures(50), after(15))).toBe("All sessions within seconds.");
});

test("CAP-8 errors are shown with their share, and as unknown without calls", () => {
  const of = (calls: number, errors: number) => errorsText({ calls, errors, p50Ms: null, p95Ms: null });
  expect([of(0, 0), of(10, 0), of(123, 3)]).toEqual(["–", "0", "3 (2.4 %)"]);
});
