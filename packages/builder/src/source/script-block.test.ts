import { expect, test } from "vitest";
import { parseScriptBlock } from "./script-block.ts";

test("BLD-3 a script block is parsed according to PEP 723", () => {
  const block = '# /// script\n# requires-python = ">=3.11"\n#\n# dependencies = ["fastmcp"]\n# ///\n';
  const found = { dependencies: ["fastmcp"], requiresPython: ">=3.11" };
  expect(parseScriptBlock(`#!/usr/bin/env python\n${block}import x\n`)).toEqual(found);
  expect(parseScriptBlock(block.replaceAll("\n", "\r\n"))).toEqual(found);
  // The last `# ///` of the comment ends it, so a string may hold one.
  expect(parseScriptBlock('# /// script\n# dependencies = ["""\n# ///\n# """]\n# ///\n')).toEqual({
    dependencies: ["///\n"],
    requiresPython: null,
  });
});

test("BLD-3 an unclosed, empty, interrupted or indented block, and one of another type, is not a script block", () => {
  const body = '# dependencies = ["x"]\n';
  for (const source of [
    `# /// script\n${body}`,
    "# /// script\n# ///\n",
    `# /// other\n${body}# ///\n`,
    `# /// script\n${body}\n# ///\n`,
    `# /// script\n#dependencies = []\n# ///\n`,
    `  # /// script\n${body}# ///\n`,
    "",
  ])
    expect(parseScriptBlock(source)).toBeNull();
});

test("BLD-3 two blocks, or one that is too long, are errors", () => {
  const block = "# /// script\n# dependencies = []\n# ///\n";
  expect(() => parseScriptBlock(`${block}\n${block}`)).toThrow("more than one");
  const long = `# /// script\n${"# # a comment in the metadata\n".repeat(3_000)}# ///\n`;
  expect(() => parseScriptBlock(long)).toThrow("longer than 64 KiB");
});

// A backtracking expression takes minutes for each of these.
test.each([
  ["starts without an end", "# /// script\n".repeat(160_000)],
  ["a start and comment lines", `# /// script\n${"#\n".repeat(1_000_000)}`],
  ["starts, each with a comment line", "# /// script\n# \n\n".repeat(120_000)],
])("BLD-2 two megabytes of %s are parsed in linear time", (_what, source) => {
  const start = performance.now();
  expect(parseScriptBlock(source)).toBeNull();
  expect(performance.now() - start).toBeLessThan(10_000);
});
