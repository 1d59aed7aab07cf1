import { RunnerError } from "@towpath/runner-api";
import { expect, test } from "vitest";
import { refused } from "./runner-refusals.ts";

const minuteMs = 60_000;
const lostFor = (retryAfterMs: number) => refused(new RunnerError("layers_lost", "Not stored.", { retryAfterMs }));

test("RUN-8 between distant attempts, callers learn the time of the next one, and may retry earlier", () => {
  const now = lostFor(5000);
  expect(now.message).toMatch(/^The server is being built again/);
  expect(now.headers).toEqual({ "retry-after": "5" });
  const soon = lostFor(3.5 * minuteMs);
  expect(soon).toMatchObject({ code: "server_rebuilding", status: 503, headers: { "retry-after": "210" } });
  expect(soon.message).toContain("building it again has failed. The next try is in 4 minutes (");
  const later = lostFor(360 * minuteMs);
  expect(later.message).toContain("The next try is in 6 hours (");
  const at = Date.parse(`${/\((.*) UTC\)/.exec(later.message)?.[1]?.replace(" ", "T")}Z`);
  expect(Math.abs(at - Date.now() - 360 * minuteMs)).toBeLessThan(1.5 * minuteMs);
  expect(later.headers).toEqual({ "retry-after": "300" });
});
