import { expect, test } from "vitest";
import { isEnvBlock, parseEnvBlock } from "./env-block.ts";

test("ONB-12 a .env block becomes variables: comments, export, quotes, multi-line values", () => {
  const block = `\uFEFF# the database
export DATABASE_URL=postgres://a:b#c@host/db?x=1   # production
EMPTY=
  SPACED = two words

NONSENSE
HASH="a # b" # comment
SINGLE='a\\nb $HOME'
DOUBLE="a\\nb \\"c\\" \\\\d"\r
KEY="-----BEGIN-----
abc=
-----END-----"
lower_case=1
HASH=last
OPEN="never closed
AFTER=1`;
  expect(parseEnvBlock(block)).toEqual([
    { keyName: "DATABASE_URL", secretValue: "postgres://a:b#c@host/db?x=1" },
    { keyName: "EMPTY", secretValue: "" },
    { keyName: "SPACED", secretValue: "two words" },
    { keyName: "HASH", secretValue: "last" },
    { keyName: "SINGLE", secretValue: "a\\nb $HOME" },
    { keyName: "DOUBLE", secretValue: 'a\nb "c" \\d' },
    { keyName: "KEY", secretValue: "-----BEGIN-----\nabc=\n-----END-----" },
    { keyName: "lower_case", secretValue: "1" },
    { keyName: "OPEN", secretValue: '"never closed' },
    { keyName: "AFTER", secretValue: "1" },
  ]);
});

test.each([
  ["API_KEY", false],
  ["  API_KEY\n", false],
  ["API_KEY=", true],
  ["export API_KEY=1", true],
  ["# only\nA=1", true],
  ["", false],
])("ONB-12 %j is a block: %s", (text, expected) => {
  expect(isEnvBlock(text)).toBe(expected);
});
