import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { ago } from "./time.ts";

test("OPS-4 people read how long ago something was, in the largest unit that fits", () => {
  const now = Date.parse("2026-11-23T12:00:00.000Z");
  const before = (seconds: number) => ago(new Date(now - seconds * 1000).toISOString(), now);
  const [minute, hour, day] = [60, 3600, 86_400];
  expect(
    [-5, 0, 9, 10, 59, 60, 119, 59 * minute, hour, 47 * hour, 2 * day, 60 * day, 365 * day, 800 * day].map(before),
  ).toEqual([
    "just now",
    "just now",
    "just now",
    "10 seconds ago",
    "59 seconds ago",
    "1 minute ago",
    "1 minute ago",
    "59 minutes ago",
    "1 hour ago",
    "1 day ago",
    "2 days ago",
    "1 month ago",
    "11 months ago",
    "2 years ago",
  ]);
});

test("OPS-4 a time is shown by the clock of the terminal", () => {
  const script = `import("${import.meta.dirname}/time.ts").then(({ localTime }) => console.log(localTime("2026-11-23T23:30:12.345Z")))`;
  const shown = (zone: string) =>
    execFileSync(process.execPath, ["-e", script], { env: { ...process.env, TZ: zone }, encoding: "utf8" }).trim();
  expect([shown("UTC"), shown("Asia/Tokyo")]).toEqual(["2026-11-23 23:30", "2026-11-24 08:30"]);
});
