import { expect, test } from "vitest";
import { continueTokenName } from "./round-trip.server.ts";

test("GH-2 SRC-3 a person's token is kept for one repository at one connection: another host never gets it", () => {
  const of = { orgSlug: "acme", connection: 0, repository: "weather" };
  const others = [{ connection: 1 }, { repository: "rain" }, { orgSlug: "acme-2" }].map((more) => ({ ...of, ...more }));
  expect(new Set([of, ...others].map(continueTokenName)).size).toBe(4);
});
