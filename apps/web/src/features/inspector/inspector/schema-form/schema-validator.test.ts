import type { RJSFSchema } from "@rjsf/utils";
import { expect, test } from "vitest";
import { schemaValidator } from "./schema-validator.ts";

const schema: RJSFSchema = {
  type: "object",
  properties: {
    text: { type: "string", minLength: 2 },
    count: { type: "integer", maximum: 5 },
    "odd name": { $ref: "#/$defs/Point" },
  },
  required: ["text"],
  $defs: { Point: { type: "object", properties: { x: { type: "number" } }, required: ["x"] } },
};

const problems = (data: unknown) =>
  schemaValidator.validateFormData(data, schema).errors.map(({ property, message }) => `${property} ${message}`);

test("PRJ-4 errors are reported at the field that they concern", () => {
  expect(problems({ text: "ok", count: 3 })).toEqual([]);
  expect(problems({})).toEqual([".text Required"]);
  expect(problems({ text: "a", count: 9, "odd name": {} })).toEqual([
    expect.stringMatching(/^\.text /),
    expect.stringMatching(/^\.count /),
    "['odd name'].x Required",
  ]);
  const { errorSchema } = schemaValidator.validateFormData({}, schema);
  expect(errorSchema).toMatchObject({ text: { __errors: ["Required"] } });
});

test("PRJ-4 a part of a schema resolves the whole schema's definitions", () => {
  expect(schemaValidator.isValid({ $ref: "#/$defs/Point" }, { x: 1 }, schema)).toBe(true);
  expect(schemaValidator.isValid({ $ref: "#/$defs/Point" }, { x: "1" }, schema)).toBe(false);
});

test("PRJ-4 validating does not change the schema", () => {
  const before = JSON.stringify(schema);
  problems({ text: "a" });
  expect(JSON.stringify(schema)).toBe(before);
});
