import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

test("OPS-1 the benchmark of starts with an unknown framework names it, and lists those that it knows", () => {
  const script = join(import.meta.dirname, "../tests/bench/start-from-nothing.ts");
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, "1", "0", "mcp-2", "flask"], {
    encoding: "utf8",
  });
  expect(stderr).toBe("No framework is called flask. Known: fastmcp-2, fastmcp-3, fastmcp-4, mcp-1, mcp-2.\n");
  expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
});
