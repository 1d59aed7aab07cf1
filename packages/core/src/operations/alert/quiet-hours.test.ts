import fc from "fast-check";
import { expect, test } from "vitest";
import { quietUntil } from "./quiet-hours.ts";

const night = { from: 22 * 60, to: 7 * 60, timeZone: "Europe/Berlin" };
const until = (hours: Parameters<typeof quietUntil>[0], now: string) =>
  quietUntil(hours, new Date(now))?.toISOString() ?? null;

test.each([
  // 1 h ahead of UTC.
  ["before they begin", night, "2026-01-10T20:59:59Z", null],
  ["as they begin", night, "2026-01-10T21:00:00Z", "2026-01-11T06:00:00.000Z"],
  ["after midnight", night, "2026-01-11T03:30:00Z", "2026-01-11T06:00:00.000Z"],
  ["as they end", night, "2026-01-11T06:00:00Z", null],
  ["within a day", { ...night, from: 12 * 60, to: 13 * 60 }, "2026-01-10T11:30:00Z", "2026-01-10T12:00:00.000Z"],
  ["none are set", null, "2026-01-10T23:00:00Z", null],
  // Clocks go forward at 02:00 on 29 March, and back at 03:00 on 25 October.
  ["over a night with an hour less", night, "2026-03-28T21:30:00Z", "2026-03-29T05:00:00.000Z"],
  ["over a night with an hour more", night, "2026-10-24T20:30:00Z", "2026-10-25T06:00:00.000Z"],
  ["until a time that doesn't exist", { ...night, to: 150 }, "2026-03-29T00:30:00Z", "2026-03-29T01:00:00.000Z"],
  ["until a time that comes twice", { ...night, to: 150 }, "2026-10-25T00:10:00Z", "2026-10-25T01:30:00.000Z"],
  ["in the hour that is repeated", { ...night, to: 150 }, "2026-10-25T01:10:00Z", "2026-10-25T01:30:00.000Z"],
  // Half an hour, and a day ahead of UTC.
  [
    "in a zone of half hours",
    { ...night, timeZone: "Asia/Kolkata" },
    "2026-01-10T17:00:00Z",
    "2026-01-11T01:30:00.000Z",
  ],
  ["far in the east", { ...night, timeZone: "Pacific/Kiritimati" }, "2026-01-10T09:00:00Z", "2026-01-10T17:00:00.000Z"],
] as const)("CAP-6 quiet hours %s", (_, hours, now, expected) => {
  expect(until(hours, now)).toBe(expected);
});

test("CAP-6 quiet hours always end later than now, within 25 hours, when the clock shows their end or after a gap", () => {
  const zones = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago", "UTC"];
  const minute = fc.integer({ min: 0, max: 1439 });
  const hours = fc
    .record({ from: minute, to: minute, timeZone: fc.constantFrom(...zones) })
    .filter(({ from, to }) => from !== to);
  const instant = fc.date({ min: new Date("2026-01-01Z"), max: new Date("2027-12-31Z"), noInvalidDate: true });
  fc.assert(
    fc.property(hours, instant, (quiet, now) => {
      const end = quietUntil(quiet, now);
      if (end === null) return;
      expect(end.getTime()).toBeGreaterThan(now.getTime());
      expect(end.getTime() - now.getTime()).toBeLessThanOrEqual(25 * 3_600_000);
      const clock = new Intl.DateTimeFormat("en-GB", { timeZone: quiet.timeZone, timeStyle: "short" });
      const [hour = 0, shown = 0] = clock.format(end).split(":").map(Number);
      const minutes = hour * 60 + shown;
      // A gap is an hour at most, and none is at the end of a day but in Santiago.
      expect((minutes - quiet.to + 1440) % 1440).toBeLessThanOrEqual(60);
    }),
    { numRuns: 500 },
  );
});
