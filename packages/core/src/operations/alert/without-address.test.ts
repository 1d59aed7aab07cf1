import { expect, test } from "vitest";
import { withoutAddress } from "./without-address.ts";

const slack = "https://hooks.slack.test/services/T0AB12CD3/B0AB12CD3/abcdefghijklmnopqrstuvwx";

test.each([
  ["Cannot POST /services/T0AB12CD3/B0AB12CD3/abcdefghijklmnopqrstuvwx", "Cannot POST …"],
  [`The requested URL ${slack} was not found`, "The requested URL … was not found"],
  ["no token abcdefghijklmnopqrstuvwx in services", "no token … in services"],
  ["Cannot POST /services/T0AB12CD3/B0AB12CD3/abcdefgh", "Cannot POST …"],
  ["no_service", "no_service"],
])("CAP-6 an answer that quotes the address, or its beginning, shows none of it: %s", (answer, expected) => {
  expect(withoutAddress(answer, slack)).toBe(expected);
});

test("CAP-6 an address is also recognized by its query, encoded and decoded", () => {
  const address = "https://alerts.test/in?key=s%2Fecret%20value";
  expect(withoutAddress("key s/ecret value is wrong, at /in?key=s%2Fecret%20value", address)).toBe(
    "key … is wrong, at …",
  );
  expect(withoutAddress("ok / fine", "https://alerts.test/")).toBe("ok / fine");
});
