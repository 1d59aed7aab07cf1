import { expect, test } from "vitest";
import { formatPeriod } from "./format-period.ts";

test("PRJ-5 a chosen period is shown with its day, or with both days", () => {
  const period = (from: string, to: string) => formatPeriod(Date.parse(from), Date.parse(to), { timeZone: "UTC" });
  expect(period("2026-11-21T10:00:00Z", "2026-11-21T10:30:00Z")).toBe("21 Nov, 10:00 – 10:30");
  expect(period("2026-11-20T22:00:00Z", "2026-11-21T10:30:00Z")).toBe("20 Nov, 22:00 – 21 Nov, 10:30");
});
