import { TowpathError } from "@towpath/core/errors";
import { expect, test } from "vitest";
import { z } from "zod";
import { requestSchema } from "./request-schema.ts";
import { refuseRepeated, refuseUnknown } from "./unknown-fields.ts";

const schema = requestSchema(
  z.object({
    name: z.string(),
    entrypoint: z.string().nullish(),
    tools: z.union([z.literal("all"), z.array(z.string())]).optional(),
    servers: z.array(z.object({ server: z.string(), prefix: z.string().optional() })).default([]),
    labels: z.record(z.string(), z.object({ colour: z.string() })).optional(),
    variables: z
      .array(z.object({ keyName: z.string(), secretValue: z.string() }))
      .nullish()
      .transform((list) => list ?? []),
  }),
);

function refusal(value: unknown) {
  try {
    refuseUnknown("field", schema, value);
  } catch (error) {
    if (error instanceof TowpathError) return { message: error.message, fields: error.fields, code: error.code };
    throw error;
  }
  return null;
}

test("OPS-4 unknown fields are named all at once, at any depth, with the one that was meant", () => {
  expect(refusal({ entrypont: "a.py" })).toEqual({
    code: "unknown_field",
    message: 'Unknown field: "entrypont" (did you mean "entrypoint"?).',
    fields: { entrypont: 'Did you mean "entrypoint"?' },
  });
  const value = {
    NAME: 1,
    colour: 2,
    entrypiont: 3,
    server: [],
    servers: [{ server: "x" }, { server: "y", prefx: "z" }],
    variables: [{ key_name: "K", secretValue: "", secretvalue: "" }],
    labels: { any: { colour: "red", color: "red" } },
  };
  const { message, fields } = refusal(value) ?? expect.fail("nothing was refused");
  expect(message).toBe(
    'Unknown fields: "NAME" (did you mean "name"?), "colour", "entrypiont" (did you mean "entrypoint"?), ' +
      '"server" (did you mean "servers"?), "servers.1.prefx" (did you mean "prefix"?), ' +
      '"variables.0.key_name" (did you mean "keyName"?), "variables.0.secretvalue" (did you mean "secretValue"?), ' +
      '"labels.any.color" (did you mean "colour"?).',
  );
  expect(fields.colour).toBe("There are: name, entrypoint, tools, servers, labels, variables.");
});

test("OPS-4 known fields pass, and values of another type are left to the schema's own check", () => {
  for (const value of [
    { name: "x", entrypoint: null, tools: "all", servers: [], variables: null, labels: { a: { colour: "red" } } },
    { name: {}, tools: ["echo"], servers: { server: 1 }, variables: [null, 1, "x"], labels: [] },
  ])
    expect(refusal(value)).toBeNull();
});

test("OPS-4 of a union's variants, the one that the discriminator names decides which fields are known", () => {
  const one = z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("git"), repository: z.string() }),
    z.object({ kind: z.literal("package"), version: z.string().optional() }),
  ]);
  const codeOf = (value: unknown) => {
    try {
      refuseUnknown("field", requestSchema(one), value);
    } catch (error) {
      return error instanceof TowpathError ? error.message : error;
    }
    return null;
  };
  expect(codeOf({ kind: "git", version: "1" })).toBe('Unknown field: "version".');
  expect(codeOf({ kind: "package", version: "1" })).toBeNull();
  // An unknown variant is left to the schema.
  expect(codeOf({ kind: "other", version: "1" })).toBeNull();
});

test("OPS-4 names of JavaScript's own, long ones and a great many are refused like others", () => {
  for (const name of ["__proto__", "constructor", "toString"]) {
    expect(refusal(JSON.parse(`{"${name}": 1}`))?.message).toBe(`Unknown field: "${name}".`);
  }
  expect(refusal({ [`entrypoint${"x".repeat(5000)}`]: 1 })?.message.length).toBeLessThan(100);
  const many = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`field${at}`, 1]));
  const refused = refusal(many);
  expect([Object.keys(refused?.fields ?? {}).length, refused?.message]).toEqual([
    20,
    expect.stringMatching(/"field19", and 4980 more\.$/),
  ]);
});

test("OPS-4 parameters that are given twice are refused by their names", () => {
  const refused = (search: string) => {
    try {
      refuseRepeated(new URLSearchParams(search));
    } catch (error) {
      if (error instanceof TowpathError) return { message: error.message, fields: error.fields, code: error.code };
      throw error;
    }
    return null;
  };
  expect(refused("a=1&b=1&a=1&c=&c=")).toEqual({
    code: "unknown_field",
    message: 'Given more than once: "a", "c".',
    fields: { a: "Give it once.", c: "Give it once." },
  });
  expect(refused("a=1&b=1")).toBeNull();
});
