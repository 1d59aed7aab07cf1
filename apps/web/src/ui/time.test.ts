import { expect, test } from "vitest";
import { formatAbsoluteTime, formatBytes, formatClockTime, formatDuration, formatRelativeTime } from "./time.tsx";

const now = Date.UTC(2026, 10, 21, 12, 0, 0);

test("relative times use the largest fitting unit and never round up", () => {
  expect(formatRelativeTime(now - 5_000, now)).toBe("just now");
  expect(formatRelativeTime(now - 119_000, now)).toBe("1m ago");
  expect(formatRelativeTime(now - 47 * 3_600_000, now)).toBe("1d ago");
  expect(formatRelativeTime(now - 400 * 86_400_000, now)).toBe("1y ago");
});

test("ORG-4 absolute times are in the chosen time zone and clock, and name the zone", () => {
  expect(formatAbsoluteTime(now, { timeZone: "UTC" })).toBe("21 Nov 2026, 12:00:00 UTC");
  expect(formatAbsoluteTime(now, { timeZone: "Asia/Tokyo", hourCycle: "h12" })).toBe("21 Nov 2026, 9:00:00 pm GMT+9");
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
  expect([812, 4_100, 2_300_000, 6e9].map(formatBytes)).toEqual(["812 B", "4.1 kB", "2.3 MB", "6.0 GB"]);
});

test("PRJ-5 lists show the time of day to the millisecond, and the day where it is another one", () => {
  const now = Date.parse("2026-11-21T15:00:00Z");
  const at = (text: string, zone: string) => formatClockTime(Date.parse(text), { timeZone: zone }, now);
  expect(at("2026-11-21T02:08:21.070Z", "UTC")).toBe("02:08:21.070");
  expect(at("2026-11-20T02:08:21.070Z", "UTC")).toBe("20 Nov 02:08:21.070");
  expect(at("2026-11-20T23:30:00Z", "Europe/Berlin")).toBe("00:30:00.000");
});
