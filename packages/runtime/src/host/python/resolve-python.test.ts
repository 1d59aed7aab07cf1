import { stat } from "node:fs/promises";
import { expect, test } from "vitest";
import { resolvePython } from "./resolve-python.ts";

test("uv finds a Python of the host, with its prefix and its path in the sandbox", async () => {
  const python = await resolvePython({ uv: "uv" }, "3.11");
  if (python === null) throw new Error("Python 3.11 is needed for this test.");
  expect(python.version).toMatch(/^3\.11\.\d+$/);
  expect(python.executable.startsWith(`${python.prefix}/`)).toBe(true);
  expect(python.insideExecutable).toMatch(/^\/opt\/python\/bin\/python3\.11$/);
  expect((await stat(python.executable)).isFile()).toBe(true);
});

test("a missing version is null; a missing uv is an error", async () => {
  expect(await resolvePython({ uv: "uv" }, "3.1")).toBeNull();
  await expect(resolvePython({ uv: "/nowhere/uv" }, "3.11")).rejects.toThrow("ENOENT");
});
