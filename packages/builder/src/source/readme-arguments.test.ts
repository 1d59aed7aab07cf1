import { expect, test } from "vitest";
import { readmeArguments } from "./readme-arguments.ts";

const shown = (command: string, ...args: string[]) =>
  `## Use\n\`\`\`json\n${JSON.stringify({ mcpServers: { shop: { command, args, env: { KEY: "x" } } } }, null, 2)}\n\`\`\`\n`;

test.each([
  [["shop-mcp", "serve"], ["serve"]],
  [["uvx", "shop-mcp", "serve"], ["serve"]],
  [["uvx", "--from", "Shop_MCP[cli]==1.2", "shop-mcp", "stdio"], ["stdio"]],
  [
    ["/opt/venv/bin/shop-mcp", "run", "--transport", "stdio"],
    ["run", "--transport", "stdio"],
  ],
  [["uvx", "shop-mcp@latest", "--stdio"], ["--stdio"]],
  [["uvx", "shop-mcp"], []],
  [["uvx", "other-mcp", "serve"], []],
  [["shop-mcp", "--db", "/path/to/db"], []],
  [["shop-mcp", "serve", "http://localhost:8000"], []],
  [["npx", "-y", "shop"], []],
])("BLD-16 a README that starts a server by %j gives it the arguments %j", ([command = "", ...args], expected) => {
  expect(readmeArguments(shown(command, ...args), ["shop-mcp", "shop_mcp"])).toEqual(expected);
});

test("BLD-16 of several configurations in a README the first counts that gives plain arguments, in any form", () => {
  const text = `{"args": ["shop-mcp", "--db", "x"], "command": "uvx"}\n{ "args" : ["shop-mcp", "start",], "command" : "uvx" }`;
  expect(readmeArguments(text, ["shop-mcp"])).toEqual(["start"]);
  expect(readmeArguments('"command": "shop-mcp", "args": ["serve", 3]', ["shop-mcp"])).toEqual([]);
});
