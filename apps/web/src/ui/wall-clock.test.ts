import { expect, test } from "vitest";
import { formatCount } from "./figure.tsx";
import { formatAbsoluteTime, formatClockTime, formatRelativeTime, formatTimeOfDay } from "./time.tsx";

const times = Array.from({ length: 12 }, (_, month) =>
  Date.UTC(2020 + month, month, 1 + 2 * month, 2 * month, 5, 6, 7),
);
const cycles = [
  ["h12", "numeric"],
  ["h23", "2-digit"],
] as const;

test.each(["UTC", undefined, "Europe/London", "Asia/Kolkata"])(
  "ORG-4 times in the zone %s read like those of Intl",
  (timeZone) => {
    for (const time of times)
      for (const [hourCycle, hour] of cycles) {
        const intl = (options: Intl.DateTimeFormatOptions) =>
          new Intl.DateTimeFormat("en-GB", { timeZone, hourCycle, ...options }).format(time);
        const format = { hourCycle, ...(timeZone && { timeZone }) };
        const clock = { hour, minute: "2-digit", second: "2-digit" } as const;
        expect(formatClockTime(time, format, time)).toBe(intl({ ...clock, fractionalSecondDigits: 3 }));
        expect(formatTimeOfDay(time, format)).toBe(intl({ hour, minute: "2-digit" }));
        const day = intl({ day: "numeric", month: "short", year: "numeric" });
        expect(formatAbsoluteTime(time, format)).toBe(`${day}, ${intl({ ...clock, timeZoneName: "short" })}`);
      }
  },
);

test("counts and ages read like those of Intl", () => {
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
