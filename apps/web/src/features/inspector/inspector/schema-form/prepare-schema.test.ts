import { expect, test } from "vitest";
import { prepareSchema, takesNoArguments } from "./prepare-schema.ts";

const schemaOf = (raw: unknown) => {
  const prepared = prepareSchema(raw);
  if (!prepared.ok) throw new Error(prepared.reason);
  return prepared.schema;
};
const reasonOf = (raw: unknown) => {
  const prepared = prepareSchema(raw);
  return prepared.ok ? null : prepared.reason;
};

test("PRJ-4 an optional argument of Python (X or null) becomes a plain field, a required one keeps its choice", () => {
  const nullable = { anyOf: [{ type: "string" }, { type: "null" }], default: null, title: "Name" };
  const optional = schemaOf({ type: "object", properties: { name: nullable } });
  expect(optional.properties?.name).toEqual({ type: "string", title: "Name" });
  const required = schemaOf({ type: "object", properties: { name: nullable }, required: ["name"] });
  expect(required.properties?.name).toHaveProperty("anyOf");
});

test("PRJ-4 required arguments come first in their order, and one without a type is not lost", () => {
  const properties = { a: { type: "string" }, untyped: {}, b: { type: "string" }, c: { type: "string" } };
  const schema = schemaOf({ type: "object", properties, required: ["c", "a", "gone"] });
  expect(Object.keys(schema.properties ?? {})).toEqual(["c", "a", "untyped", "b"]);
  expect(schema.properties?.untyped).toEqual({ title: "untyped" });
});

test("PRJ-4 a choice of constants becomes an enumeration", () => {
  const kind = { oneOf: [{ const: "narrowboat" }, { const: "barge" }], title: "Kind" };
  const schema = schemaOf({ type: "object", properties: { kind } });
  expect(schema.properties?.kind).toEqual({ enum: ["narrowboat", "barge"], title: "Kind" });
});

test("PRJ-4 patterns, identifiers and UI hints of an untrusted schema are dropped", () => {
  const schema = schemaOf({
    $id: "https://evil.example/schema",
    type: "object",
    properties: { a: { type: "string", pattern: "(a+)+$", format: "data-url", "ui:widget": "hidden" } },
    patternProperties: { "(x+)+$": {} },
  });
  expect(schema).toEqual({ type: "object", properties: { a: { type: "string" } } });
});

test("PRJ-4 a property named pattern or default is a property, not a keyword", () => {
  const schema = schemaOf({ type: "object", properties: { pattern: { type: "string" }, default: { type: "number" } } });
  expect(Object.keys(schema.properties ?? {})).toEqual(["pattern", "default"]);
});

test("PRJ-4 a schema without a form says why", () => {
  const deep = JSON.parse(`${'{"properties":{"a":'.repeat(20)}{}${"}}".repeat(20)}`);
  expect(reasonOf(deep)).toContain("nested deeper");
  const wide = { properties: Object.fromEntries(Array.from({ length: 2100 }, (_, index) => [`p${index}`, {}])) };
  expect(reasonOf(wide)).toContain("more than 2000 parts");
  expect(reasonOf({ description: "x".repeat(70_000) })).toContain("larger than 64 kB");
  expect(reasonOf({ properties: { a: { $ref: "https://evil.example/x.json" } } })).toContain("outside");
  expect(reasonOf({ properties: { a: { $ref: "#/$defs/missing" } } })).toContain("does not define");
  expect(reasonOf(JSON.parse('{"properties":{"__proto__":{"type":"string"}}}'))).toContain("__proto__");
  expect(reasonOf({ type: "array" })).toContain("not an object");
  expect(reasonOf("nonsense")).toContain("not an object");
});

test("PRJ-4 a recursive schema is refused, shared definitions are not", () => {
  const node = { type: "object", properties: { next: { $ref: "#/$defs/Node" } } };
  expect(reasonOf({ properties: { head: { $ref: "#/$defs/Node" } }, $defs: { Node: node } })).toContain("itself");
  const point = { type: "object", properties: { x: { type: "number" } } };
  const both = { from: { $ref: "#/$defs/Point" }, to: { $ref: "#/$defs/Point" } };
  expect(reasonOf({ properties: both, $defs: { Point: point } })).toBeNull();
});

test.each([
  [{ type: "object" }, true],
  [{ type: "object", properties: {}, title: "nowArguments", additionalProperties: false }, true],
  [{ type: "object", properties: {}, required: [] }, true],
  [{ type: "object", properties: { city: {} } }, false],
  [{ type: "object", additionalProperties: true }, false],
  [{ type: "object", additionalProperties: { type: "string" } }, false],
  [{ $ref: "#/$defs/A", $defs: { A: { type: "object", properties: { a: { type: "string" } } } } }, false],
])("PRJ-4 whether a tool takes no arguments: %j → %s", (raw, expected) => {
  const prepared = prepareSchema(raw);
  expect(prepared.ok && takesNoArguments(prepared.schema)).toBe(expected);
});
