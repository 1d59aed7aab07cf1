import { expect, test } from "vitest";
import { readList } from "./exact-list.ts";

test("BLD-1 the same versions are the same list, whichever packages require them; those are known", () => {
  const list = `--index-url https://index.example/simple
anyio==4.16.0
    # via
    #   httpx
    #   mcp
idna==3.20
    # via anyio
mcp==1.30.0
    # via shop (/app/src/pyproject.toml)
./libs/own
    # via -r /app/src/requirements.txt
`;
  const { exact, requirers } = readList(list);
  const bare = "--index-url https://index.example/simple\nanyio==4.16.0\nidna==3.20\nmcp==1.30.0\n./libs/own\n";
  expect(exact).toBe(bare);
  expect(readList(bare).exact).toBe(bare);
  expect([...requirers]).toEqual([
    ["anyio", ["httpx", "mcp"]],
    ["idna", ["anyio"]],
    ["mcp", []],
  ]);
});
