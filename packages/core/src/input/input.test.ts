import { expect, test } from "vitest";
import { z } from "zod";
import { TowpathError } from "../errors/index.ts";
import { parseInput } from "./index.ts";

const schema = z.object({
  organization: z.string().min(1),
  limits: z.object({ calls: z.number().int().max(5) }),
  mode: z.enum(["open", "members"]),
  isPublic: z.boolean(),
  tags: z.array(z.string()).max(1),
  id: z.uuid(),
  address: z.url(),
  since: z.coerce.date(),
  secret: z.string().min(3),
  ratio: z.number().gt(0),
  name: z.string().min(1, "Server name is required"),
});

function fieldsOf(input: unknown): Readonly<Record<string, string>> {
  try {
    parseInput(schema, input);
  } catch (error) {
    if (error instanceof TowpathError) return error.fields;
    throw error;
  }
  return {};
}

test("OPS-4 errors of fields are sentences, the schema's own where it has one", () => {
  const bad = {
    organization: "",
    limits: { calls: 6 },
    mode: "closed",
    isPublic: "yes",
    tags: ["a", "b"],
    id: "7",
    address: "here",
    since: "soon",
    secret: "ab",
    ratio: 0,
    name: "",
  };
  expect(fieldsOf(bad)).toEqual({
    organization: "organization must not be empty.",
    "limits.calls": "limits.calls must be at most 5.",
    mode: 'mode must be "open" or "members".',
    isPublic: "isPublic must be true or false.",
    tags: "tags must have at most 1 entry.",
    id: "id must be an id, as answers of this API have them.",
    address: "address must be a URL.",
    since: "since must be a date.",
    secret: "secret must have at least 3 characters.",
    ratio: "ratio must be more than 0.",
    name: "Server name is required",
  });
  expect(fieldsOf({ limits: { calls: 1.5 } })).toMatchObject({
    organization: "organization is missing.",
    "limits.calls": "limits.calls must be a whole number.",
  });
  expect(fieldsOf(null)).toEqual({ "": "The input must be an object." });
});
