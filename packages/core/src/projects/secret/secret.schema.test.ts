import fc from "fast-check";
import { expect, test } from "vitest";
import { secretKeyNameProblem, secretKeyNameSchema, secretValueProblem, secretValueSchema } from "./secret.schema.ts";

const names = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9_ -]{0,12}$/),
  fc.constantFrom("", "TOWPATH_CLOUD_", "TOWPATH_CLOUD_X", "A".repeat(255), "A".repeat(256), "1A", "a", "é", "A\n"),
  fc.string(),
);
const values = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom("", "\u0000", "a\u0000b", "x".repeat(65_536), "x".repeat(65_537), "é".repeat(32_769)),
);

test("VAL-4 KEY-1 a form reports of a variable what the schema does", () => {
  const first = (parsed: {
    readonly error?: { readonly issues: readonly { readonly message: string }[] } | undefined;
  }) => parsed.error?.issues[0]?.message ?? null;
  fc.assert(
    fc.property(names, (name) => {
      expect(secretKeyNameProblem(name)).toBe(first(secretKeyNameSchema.safeParse(name)));
    }),
  );
  fc.assert(
    fc.property(values, (value) => {
      expect(secretValueProblem(value)).toBe(first(secretValueSchema.safeParse(value)));
    }),
  );
  expect([secretKeyNameProblem("API_KEY"), secretValueProblem("x")]).toEqual([null, null]);
});
