import { expect, test } from "vitest";
import { formatCount } from "./figure.tsx";
import { formatClockTime, formatRelativeTime, formatTimeOfDay } from "./time.tsx";
import { wallClock } from "./wall-clock.ts";

const times = Array.from({ length: 12 }, (_, month) =>
  Date.UTC(2020 + month, month, 1 + 2 * month, 2 * month, 5, 6, 7),
);

test("times without Intl read like those of Intl, in UTC and in this machine's zone", () => {
  for (const zone of ["UTC", undefined])
    for (const time of times) {
      const intl = (options: Intl.DateTimeFormatOptions) =>
        new Intl.DateTimeFormat("en-GB", { timeZone: zone, ...options }).format(time);
      const at = wallClock(time, zone);
      expect(`${at?.day} ${at?.year}`).toBe(intl({ day: "numeric", month: "short", year: "numeric" }));
      for (const [hourCycle, hour] of [
        ["h12", "numeric"],
        ["h23", "2-digit"],
      ] as const) {
        const clock = intl({ hour, minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3, hourCycle });
        const format = { hourCycle, ...(zone && { timeZone: zone }) };
        expect(formatClockTime(time, format, time)).toBe(clock);
        expect(formatTimeOfDay(time, format)).toBe(intl({ hour, minute: "2-digit", hourCycle }));
      }
    }
  expect(wallClock(0, "Europe/Berlin")).toBe(null);
});

test("counts and ages without Intl read like those of Intl", () => {
  for (const count of [0, 7, 999, 1000, 12_345, 1_234_567, -4321, 2.5, 1234.5678])
    expect(formatCount(count)).toBe(new Intl.NumberFormat("en").format(count));
  const ages = new Intl.RelativeTimeFormat("en", { style: "narrow" });
  const seconds = { year: 31_536_000, month: 2_592_000, week: 604_800, day: 86_400, hour: 3600, minute: 60 };
  for (const [unit, size] of Object.entries(seconds))
    for (const amount of [-1, 1])
      expect(formatRelativeTime(amount * size * 1000, 0)).toBe(
        ages.format(amount, unit as Intl.RelativeTimeFormatUnit),
      );
});
