import { expect, test } from "vitest";
import { splitAddresses } from "./invitation.schema.ts";
import { plainName } from "./invitation-mail.ts";

test.each([
  ["Ada Lovelace", "Ada Lovelace"],
  ["  Acme,\n Inc. ", "Acme, Inc."],
  ["Dr. No", "Dr. No"],
  ["Win $1000 at evil.example", null],
  ["https://evil", null],
  ["www.evil", null],
  ["write to me@evil", null],
  ["x".repeat(65), null],
  ["", null],
])("ORG-6 names that look like links are left out of messages: %j", (name, expected) => {
  expect(plainName(name)).toBe(expected);
});

test("ORG-6 addresses may be pasted in any form", () => {
  expect(splitAddresses("Ada <ADA@example.com>, bob@example.com;\neve@example.com  bob@example.com")).toEqual([
    "ada@example.com",
    "bob@example.com",
    "eve@example.com",
  ]);
});
