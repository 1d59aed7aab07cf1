import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
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

test("PUB-4 each figure of the landing page names a command of this repository that shows it", () => {
  const root = join(import.meta.dirname, "..");
  const read = (path: string) => readFileSync(join(root, path), "utf8");
  const commands = read("apps/web/src/features/site/landing/figures.tsx").matchAll(/command: "(.+)"/g);
  const scenarios = read("tests/chaos/run.ts");
  const found = [...commands].map(([, command = ""]) => {
    const [, benchmark] = /^\.\/towpath test bench ([\w-]+)$/.exec(command) ?? [];
    if (benchmark !== undefined) return existsSync(join(root, `tests/bench/${benchmark}.ts`));
    const [, scenario] = /^TOWPATH_CHAOS=([\w-]+) \.\/towpath test chaos$/.exec(command) ?? [];
    return new RegExp(`^ {2}"?${scenario}"?: `, "m").test(scenarios);
  });
  expect(found).toEqual([true, true, true, true]);
});
