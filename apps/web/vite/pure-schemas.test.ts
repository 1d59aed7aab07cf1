import { parseAst } from "vite";
import { expect, test } from "vitest";
import { withPureConstants } from "./pure-schemas.ts";

const marked = (code: string) => withPureConstants(code, parseAst(code));

test("CAP-7 constants that are made by calls are pure for the bundler, functions stay as they are", () => {
  expect(marked("export const a = z.string().min(1), b = 2;")).toBe(
    "export const a = /* @__PURE__ */ (() => (z.string().min(1)))(), b = 2;",
  );
  expect(marked("const c = { ...a, d: b.shape };")).toBe("const c = /* @__PURE__ */ (() => ({ ...a, d: b.shape }))();");
  for (const kept of ["export const f = (x) => z.parse(x);", 'const n = ["a", "b"];', "export function g() { h(); }"])
    expect(marked(kept)).toBe(kept);
});
