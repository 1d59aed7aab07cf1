import type { RequestLogRow } from "@towpath/logs";
import { expect, test } from "vitest";
import { RefusalLimit } from "./refusal-limit.ts";

const row = (projectId: string) => ({ projectId, errorMessage: "Refused." }) as RequestLogRow;

test("GW-7 a flood of refused requests leaves a bounded number of rows, and counts and reports the others", () => {
  let now = 0;
  const refused = new RefusalLimit({ now: () => now });
  let kept = 0;
  // An hour of a thousand a second.
  for (; now < 3_600_000; now += 1) if (refused.admit(row("flooded"))) kept++;
  expect(kept).toBeGreaterThan(17_000);
  expect(kept).toBeLessThan(19_000);
  expect(refused.leftOut).toBe(3_600_000 - kept);
  // Another project's rows are not touched by it.
  expect(refused.admit(row("quiet"))).toEqual(row("quiet"));
  now += 60_000;
  expect(refused.admit(row("flooded"))?.errorMessage).toMatch(/^Refused\. Before this one, \d+ refused requests/);
  expect(refused.admit(row("flooded"))).toEqual(row("flooded"));
});
