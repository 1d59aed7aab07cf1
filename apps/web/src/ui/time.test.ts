import { expect, test } from "vitest";
import { formatAbsoluteTime, formatBytes, formatDuration, formatRelativeTime } from "./time.tsx";

const now = Date.UTC(2026, 10, 21, 12, 0, 0);

test("relative times use the largest fitting unit and never round up", () => {
  expect(formatRelativeTime(now - 5_000, now)).toBe("just now");
  expect(formatRelativeTime(now - 119_000, now)).toBe("1m ago");
  expect(formatRelativeTime(now - 47 * 3_600_000, now)).toBe("1d ago");
  expect(formatRelativeTime(now - 400 * 86_400_000, now)).toBe("1y ago");
});

test("absolute times are in UTC and say so", () => {
  expect(formatAbsoluteTime(now)).toBe("21 Nov 2026, 12:00:00 UTC");
});

test("durations have at most three digits and never show 60 seconds", () => {
  expect([0.84, 412.3, 3_260, 9_999, 59_400, 125_000, 3_725_000].map(formatDuration)).toEqual([
    "0.8 ms",
    "412 ms",
    "3.2 s",
    "9.9 s",
    "59 s",
    "2 m 05 s",
    "1 h 02 m",
  ]);
  expect(formatDuration(Number.NaN)).toBe("–");
});

test("sizes are in decimal units", () => {
  expect([812, 4_100, 2_300_000].map(formatBytes)).toEqual(["812 B", "4.1 kB", "2.3 MB"]);
});
