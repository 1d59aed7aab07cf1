import { expect, test } from "vitest";
import {
  flag,
  listOf,
  oneOf,
  positiveInteger,
  searchParameters,
  text,
  uuid,
  withDefault,
} from "./search-parameters.ts";

const parameters = searchParameters({
  text: withDefault(text(5), ""),
  type: withDefault(oneOf(["all", "open"]), "all"),
  installationId: positiveInteger,
  isPrivate: flag,
  branchId: uuid,
  names: listOf(text(3), 4),
});

test("known parameters are parsed, others are dropped", () => {
  const branchId = "0192b0f4-7b7a-7c3c-8f00-000000000001";
  const search = { text: "abcde", type: "open", installationId: 7, isPrivate: false, branchId, names: ["a", "b"] };
  expect(parameters.parse({ ...search, other: 1 })).toEqual(search);
  expect(parameters.parse({ text: 12, names: [1, 1] })).toEqual({ text: "12", type: "all", names: ["1"] });
});

test.each([
  { text: "abcdef" },
  { text: {} },
  { type: "ALL" },
  { installationId: 1.5 },
  { installationId: 0 },
  { installationId: "7" },
  { isPrivate: "yes" },
  { branchId: "main" },
  { names: "a" },
])("an invalid parameter counts as missing: %j", (search) => {
  const parsed = parameters.parse(search);
  expect(parsed).toEqual({ text: "", type: "all" });
  // The router merges the result into the raw parameters, so invalid ones must be overwritten.
  expect({ ...search, ...parsed }).toEqual({ text: "", type: "all" });
});
