import { expect, test } from "vitest";
import { deploySearchParameters } from "./deploy-search.ts";
import { applyPaste, problemsOf } from "./use-variables.ts";

const filled = (keyName: string) => ({ keyName, secretValue: "x" });

test("VAL-4 each row shows its own error; blank rows show none", () => {
  const rows = [
    filled(""),
    filled("A".repeat(256)),
    filled("api-key"),
    filled("TOWPATH_CLOUD_URL"),
    { keyName: "A", secretValue: "" },
    filled("A"),
    { keyName: "", secretValue: "" },
    { keyName: "", secretValue: "" },
  ];
  expect(problemsOf(rows)).toEqual([
    { keyName: "Key name is required", secretValue: null },
    { keyName: "Key name is too long (max 255 characters)", secretValue: null },
    { keyName: "Key name must start with a letter or underscore and use only A-Z, 0-9, _", secretValue: null },
    { keyName: "Key name cannot start with TOWPATH_CLOUD_ (reserved)", secretValue: null },
    { keyName: null, secretValue: "Secret value is required" },
    { keyName: "Each name can appear only once", secretValue: null },
    { keyName: null, secretValue: null },
    { keyName: null, secretValue: null },
  ]);
});

test("ONB-12 a pasted block fills existing names and replaces the blank row", () => {
  const rows = [
    { id: 1, keyName: "API_KEY", secretValue: "" },
    { id: 2, keyName: "", secretValue: "" },
    { id: 3, keyName: "LAST", secretValue: "kept" },
  ];
  const pasted = [
    { keyName: "API_KEY", secretValue: "a" },
    { keyName: "REGION", secretValue: "eu" },
  ];
  expect(applyPaste(rows, 2, pasted, 9)).toEqual([
    { id: 1, keyName: "API_KEY", secretValue: "a" },
    { id: 9, keyName: "REGION", secretValue: "eu" },
    { id: 3, keyName: "LAST", secretValue: "kept" },
  ]);
});

test("ONB-5 the URL carries names of variables, never values", () => {
  const read = (envVariables: unknown) => deploySearchParameters.parse({ envVariables }).envVariables;
  expect(read(["API_KEY", "REGION=eu", "API_KEY"])).toEqual(["API_KEY", "REGION"]);
  expect(read("API_KEY")).toBeUndefined();
});
