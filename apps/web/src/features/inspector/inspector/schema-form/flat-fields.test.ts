import { expect, test } from "vitest";
import { argumentProblems } from "./argument-problems.ts";
import { flatFields, withDefaults } from "./flat-fields.ts";
import { prepareSchema } from "./prepare-schema.ts";

const fieldsOf = (properties: Record<string, unknown>, more: Record<string, unknown> = {}) => {
  const prepared = prepareSchema({ type: "object", properties, ...more });
  if (!prepared.ok) throw new Error(prepared.reason);
  return flatFields(prepared.schema);
};

test("PRJ-4 arguments with one control each are fields, required ones first", () => {
  const fields = fieldsOf(
    {
      limit: { type: "integer", minimum: 1, title: "Limit", description: "At most" },
      unit: { enum: ["C", "F"], default: "C" },
      city: { type: "string" },
      live: { type: "boolean" },
      day: { anyOf: [{ type: "string", format: "date" }, { type: "null" }], default: null },
      mail: { type: "string", format: "email" },
      token: { type: "string", format: "password" },
    },
    { required: ["city"], additionalProperties: false, title: "weather", description: "Of a city" },
  );
  expect(fields?.map(({ name, label, control, required }) => [name, label, control, required])).toEqual([
    ["city", "city", "text", true],
    ["limit", "Limit", "number", false],
    ["unit", "unit", "choice", false],
    ["live", "live", "boolean", false],
    ["day", "day", "date", false],
    ["mail", "mail", "email", false],
    ["token", "token", "text", false],
  ]);
  expect(fields?.[1]?.description).toBe("At most");
});

test.each([
  ["a list", { a: { type: "array", items: { type: "string" } } }, {}],
  ["an object", { a: { type: "object", properties: {} } }, {}],
  ["alternatives", { a: { anyOf: [{ type: "string" }, { type: "number" }] } }, {}],
  ["several types", { a: { type: ["string", "number"] } }, {}],
  ["no type", { a: {} }, {}],
  ["a definition", { a: { $ref: "#/$defs/A" } }, { $defs: { A: { type: "string" } } }],
  ["a choice of objects", { a: { enum: [{ x: 1 }] } }, {}],
  ["a time of day", { a: { type: "string", format: "date-time" } }, {}],
  ["more properties", { a: { type: "string" } }, { additionalProperties: true }],
  ["conditions", { a: { type: "string" } }, { if: { required: ["a"] }, else: { required: ["b"] } }],
])("PRJ-4 a schema with %s is left to the library's form", (_what, properties, more) => {
  expect(fieldsOf(properties, more)).toBeNull();
});

test("PRJ-4 defaults fill what is missing, not what is given", () => {
  const fields = fieldsOf({ unit: { type: "string", default: "C" }, days: { type: "integer", default: 3 } }) ?? [];
  expect(withDefaults(fields, {})).toEqual({ unit: "C", days: 3 });
  expect(withDefaults(fields, { days: 0, extra: true })).toEqual({ days: 0, extra: true, unit: "C" });
  const complete = { unit: "F", days: 1 };
  expect(withDefaults(fields, complete)).toBe(complete);
});

test("PRJ-4 problems of arguments name the field", () => {
  const schema = {
    type: "object",
    properties: { city: { type: "string" }, days: { type: "integer" } },
    required: ["city"],
  };
  expect(argumentProblems(schema, { city: "Ulm" })).toEqual([]);
  expect(argumentProblems(schema, { days: 1.5 }).map(({ path }) => path)).toEqual([["city"], ["days"]]);
  expect(argumentProblems(schema, {})).toMatchObject([{ path: ["city"], message: "Required" }]);
});
