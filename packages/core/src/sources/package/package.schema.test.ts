import fc from "fast-check";
import { expect, test } from "vitest";
import {
  normalPackageName,
  packageNameProblem,
  packageNameSchema,
  packageVersionProblem,
  packageVersionSchema,
} from "./package.schema.ts";

const names = fc.oneof(
  fc.stringMatching(/^ ?[A-Za-z0-9._-]{0,8} ?$/),
  fc.constantFrom("", " ", "Office_Word.MCP", "-a", "a".repeat(200), "a".repeat(201), "a b", "a\n"),
  fc.string(),
);
const versions = fc.oneof(
  fc.stringMatching(/^ ?v?[0-9]{0,3}[.a-z+]{0,4}$/),
  fc.constantFrom("1.4.2", "latest", "1".repeat(80), "1".repeat(81), "1\n", "==1"),
  fc.string(),
);

test("BLD-17 a form reports of a package what the schema does, and asks for the same name", () => {
  fc.assert(
    fc.property(names, (name) => {
      const { error, data } = packageNameSchema.safeParse(name);
      expect(packageNameProblem(name)).toBe(error?.issues[0]?.message ?? null);
      if (data !== undefined) expect(normalPackageName(name)).toBe(data);
    }),
  );
  fc.assert(
    fc.property(versions, (version) => {
      const { error } = packageVersionSchema.safeParse(version);
      if (version.trim() !== "") expect(packageVersionProblem(version)).toBe(error?.issues[0]?.message ?? null);
    }),
  );
  expect([packageVersionProblem(" "), normalPackageName(" Office_Word.MCP ")]).toEqual([null, "office-word-mcp"]);
});
