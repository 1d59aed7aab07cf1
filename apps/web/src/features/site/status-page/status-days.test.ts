import { expect, test } from "vitest";
import { firstShownDay, inPercent, statusDays, toneOf } from "./status-days.ts";

const now = Date.parse("2026-03-01T00:30:00Z");
const day = (name: string, calls: number, unanswered: number, p95Ms: number | null = 10) => ({
  projectId: "p",
  day: name,
  calls,
  unanswered,
  p95Ms,
});

test("PUB-10 ninety days end today, days without calls have no share, and the sum is over calls", () => {
  const { days, answered, p95Ms } = statusDays(
    [day("2025-12-02", 900, 0, 30), day("2026-02-28", 100, 5, 20), day("2026-03-01", 0, 0, null)],
    now,
  );
  expect(days).toHaveLength(90);
  expect([days[0]?.day, days[0]?.answered]).toEqual(["2025-12-02", 1]);
  expect(days.at(-2)).toEqual({ day: "2026-02-28", calls: 100, answered: 0.95, p95Ms: 20 });
  expect(days.at(-1)).toEqual({ day: "2026-03-01", calls: 0, answered: null, p95Ms: null });
  expect([answered, p95Ms]).toEqual([0.995, 30]);
  expect(firstShownDay(now)).toBe("2025-12-02");
  expect(statusDays([], now)).toMatchObject({ isCounted: false, answered: null, p95Ms: null });
  expect(statusDays([day("2026-03-01", 0, 0, null)], now)).toMatchObject({ isCounted: true, answered: null });
});

test("PUB-10 a share is never rounded up to one, nor below zero", () => {
  expect([inPercent(1), inPercent(0.99999), inPercent(0.995)]).toEqual(["100 %", "99.99 %", "99.5 %"]);
  expect(statusDays([day("2026-03-01", 1, 2)], now).answered).toBe(0);
  expect([null, 1, 0.999, 0.995, 0.5].map(toneOf)).toEqual(["none", "ok", "ok", "warn", "bad"]);
});
