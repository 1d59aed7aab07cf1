import fc from "fast-check";
import { expect, test } from "vitest";
import { completeJson } from "./complete-json.ts";

test("GW-7 the beginning of any JSON can be parsed, and has no values that the whole lacks", () => {
  fc.assert(
    fc.property(
      fc.jsonValue({ maxDepth: 4 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.boolean(),
      (any, part, pretty) => {
        // As in JSON: without a negative zero.
        const value = JSON.parse(JSON.stringify(any));
        const json = JSON.stringify({ value }, null, pretty ? 2 : 0);
        const cut = json.slice(0, 1 + Math.floor(part * (json.length - 1)));
        expectPart(JSON.parse(completeJson(cut)), { value });
      },
    ),
    { numRuns: 500 },
  );
});

/** Every scalar of `part` is at the same place in `whole`, or begins the text that is there. */
function expectPart(part: unknown, whole: unknown): void {
  if (typeof part === "string" && part !== whole) {
    expect(part.endsWith("…")).toBe(true);
    expect(String(whole).startsWith(part.slice(0, -1))).toBe(true);
  } else if (Array.isArray(part)) for (const [at, item] of part.entries()) expectPart(item, (whole as unknown[])[at]);
  else if (typeof part === "object" && part !== null) {
    for (const [name, item] of Object.entries(part)) expectPart(item, (whole as Record<string, unknown>)[name]);
  } else expect(part).toEqual(whole);
}

test("GW-7 a string that was cut off keeps its beginning, except the end, which may be half a secret", () => {
  const whole = JSON.stringify({ a: [{ text: '\u0001\n"'.repeat(400) }] });
  const { text } = JSON.parse(completeJson(whole.slice(0, -10))).a[0];
  expect(text.startsWith('\u0001\n"\u0001\n"')).toBe(true);
  expect(text.endsWith("…")).toBe(true);
  expect(JSON.parse(completeJson('{"token":"abcdef'))).toEqual({ token: "…" });
  expect(JSON.parse(completeJson('{"a":12,"b":34'))).toEqual({ a: 12 });
});
