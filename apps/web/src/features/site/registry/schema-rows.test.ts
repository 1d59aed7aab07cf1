import { expect, test } from "vitest";
import { argumentRows } from "./schema-rows.ts";

const typeOf = (schema: unknown) => argumentRows({ properties: { x: schema } })[0]?.type;

test.each([
  [{ type: "string" }, "text"],
  [{ type: "string", format: "date" }, "date"],
  [{ type: "integer" }, "whole number"],
  [{ enum: ["north", "south"] }, '"north" or "south"'],
  [{ enum: [1, 2, 3, 4, 5, 6, 7, 8] }, "1, 2, 3, 4, 5, 6 or …"],
  [{ type: "array", items: { type: "string" } }, "list of text"],
  [{ anyOf: [{ type: "number" }, { type: "null" }] }, "number"],
  [{ type: ["string", "integer"] }, "text or whole number"],
  [{ $ref: "#/$defs/Boat" }, "any"],
  [true, "any"],
  [{ anyOf: [] }, "any"],
])("PUB-10 the type of an argument is readable: %j", (schema, expected) => {
  expect(typeOf(schema)).toBe(expected);
});

test("PUB-10 a row shows whether an argument is required, its description and its default", () => {
  const schema = {
    properties: {
      canal: { type: "string", description: " Name of the canal " },
      nights: { type: "integer", default: 1 },
    },
    required: ["canal"],
  };
  expect(argumentRows(schema)).toEqual([
    { name: "canal", type: "text", isRequired: true, description: "Name of the canal", defaultValue: null },
    { name: "nights", type: "whole number", isRequired: false, description: null, defaultValue: "1" },
  ]);
});

test("PUB-10 a schema that is huge, nested or nonsense gives few rows and short types", () => {
  const many = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`a${index}`, { type: "string" }]));
  expect(argumentRows({ properties: many }).length).toBe(40);
  let nested: object = { type: "string" };
  for (let depth = 0; depth < 2000; depth++) nested = { type: "array", items: nested };
  expect(typeOf(nested)).toBe("list of list of list");
  expect(argumentRows({ properties: "nonsense", required: 7 })).toEqual([]);
});
