import { createRedactor } from "@towpath/secrets/redaction";
import { expect, test } from "vitest";
import { argumentsOf } from "./sample-of-call.ts";

const redactor = createRedactor({ TOKEN: "canary-7f3a9c1e5d" });

/** What is kept of a call of `read` with these arguments, as they are written. */
const kept = (given: string) =>
  argumentsOf({ tool: "read", body: Buffer.from(`{"params":{"name":"read","arguments":${given}}}`), redactor });

test("CAP-4 arguments are kept as they are written, or not at all", () => {
  const id = "01a21e30-3ba4-7307-8623-3e374b1ea578";
  expect(kept(`{"id":"${id}","digits":"12345678901234567890","n":-2.5}`)).toEqual({
    id,
    digits: "12345678901234567890",
    n: -2.5,
  });
  // Python tells 1.0 from 1.
  for (const number of ["12345678901234567890", "0.1234567890123456789", "1.0", "1E3", "-0"])
    expect([number, kept(`{"n":[${number}]}`)]).toEqual([number, null]);
  for (const given of ['{"city":"canary-7f3a9c1e5d"}', '{"password":"x"}', "[]", '{"n":'])
    expect([given, kept(given)]).toEqual([given, null]);
});
