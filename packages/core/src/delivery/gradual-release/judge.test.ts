import { expect, test } from "vitest";
import type { VersionFigures } from "./gradual-release.schema.ts";
import { judge } from "./judge.ts";

const band = { minutesPerStep: 15, maxErrorPoints: 2, maxLatencyFactor: 1.5, minCalls: 20 };
const minutes = (count: number) => count * 60_000;
const figures = (calls: number, errors: number, p95Ms: number | null = 100): VersionFigures => ({
  calls,
  errors,
  p95Ms,
  p50Ms: p95Ms,
});

test("CAP-8 a step lasts as long as it is set, however well the new version does", () => {
  const same = { stable: figures(1000, 10), candidate: figures(100, 1) };
  expect(judge(band, same, minutes(15) - 1)).toEqual({ kind: "wait" });
  expect(judge(band, same, minutes(15))).toEqual({ kind: "advance" });
});

test("CAP-8 a version with too few calls is not judged, neither for better nor for worse", () => {
  expect(judge(band, { stable: figures(1000, 0), candidate: figures(19, 19) }, minutes(600))).toEqual({ kind: "wait" });
  expect(judge(band, { stable: figures(1000, 0), candidate: figures(0, 0, null) }, minutes(600))).toEqual({
    kind: "wait",
  });
});

test("CAP-8 more errors than the band allows lead back at once, and the reason names the figures", () => {
  const at = (errors: number) => judge(band, { stable: figures(1000, 10), candidate: figures(100, errors) }, 0);
  expect(at(3)).toEqual({ kind: "wait" });
  expect(at(4)).toEqual({
    kind: "back",
    reason: "4 % of its 100 calls failed, 1 % of the live version's; 2 points more would be allowed.",
  });
  // Where the live version fails as often, the new one is no worse.
  expect(judge(band, { stable: figures(100, 90), candidate: figures(100, 91) }, minutes(15)).kind).toBe("advance");
  // Without calls of the live version, as where all sessions are new ones, errors count from none.
  expect(judge(band, { stable: figures(0, 0, null), candidate: figures(20, 1) }, 0).kind).toBe("back");
});

test("CAP-8 latency beyond the band leads back if people notice it, and both versions had enough calls", () => {
  const at = (stable: VersionFigures, p95Ms: number) => judge(band, { stable, candidate: figures(50, 0, p95Ms) }, 0);
  expect(at(figures(50, 0, 200), 300)).toEqual({ kind: "wait" });
  expect(at(figures(50, 0, 200), 301)).toEqual({
    kind: "back",
    reason: "95 % of its calls took up to 301 ms, the live version's up to 200 ms; 1.5 times as long would be allowed.",
  });
  // Three times as long, which nobody notices.
  expect(at(figures(50, 0, 10), 30)).toEqual({ kind: "wait" });
  expect(at(figures(19, 0, 10), 3000)).toEqual({ kind: "wait" });
});
