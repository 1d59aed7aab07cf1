import type { Manifest } from "@towpath/mcp/manifest";
import { expect, test } from "vitest";
import { chosenItem, filterItems, itemsOf } from "./inspector-items.ts";
import { inspectorSearchParameters } from "./inspector-search.ts";

const tool = (name: string, description: string | null = null) => ({
  tool_name: name,
  title: null,
  description,
  inputSchema: {},
  outputSchema: null,
  annotations: null,
});
const manifest: Manifest = {
  protocolVersion: "2026-07-28",
  server: { name: "echo", version: "1" },
  instructions: null,
  tools: [tool("echo"), tool("add", "Adds two numbers")],
  resources: [{ resource_name: "greeting", uri: "echo://hello", title: null, description: null, mimeType: null }],
  templates: [],
  prompts: [],
};

test("PRJ-4 search parameters: tab defaults to tools, an invalid branchId is ignored", () => {
  const read = (search: unknown) => inspectorSearchParameters.parse(search);
  expect(read({})).toEqual({ tab: "tools" });
  expect(read({ tab: "bogus", branchId: "main", tool: {} })).toEqual({ tab: "tools" });
  const branchId = "0192b0f4-7b7a-7c3c-8f00-000000000001";
  expect(read({ tab: "prompts", branchId })).toEqual({ tab: "prompts", branchId });
});

test("PRJ-4 the URL names an item by URI or name; without one the first is shown, and an unknown one is reported", () => {
  const tools = itemsOf(manifest, "tools");
  expect(chosenItem(tools, { tab: "tools", tool: "add" }).item?.key).toBe("add");
  expect(chosenItem(tools, { tab: "tools" }).item?.key).toBe("echo");
  expect(chosenItem(tools, { tab: "tools", tool: "gone" })).toEqual({ item: null, unknown: "gone" });
  const resources = itemsOf(manifest, "resources");
  expect(chosenItem(resources, { tab: "resources", resource: "greeting" }).item?.key).toBe("echo://hello");
  expect(chosenItem(itemsOf(manifest, "prompts"), { tab: "prompts" })).toEqual({ item: null, unknown: null });
});

test("PRJ-4 the list is filtered by name and description", () => {
  expect(filterItems(itemsOf(manifest, "tools"), "NUMBERS").map(({ key }) => key)).toEqual(["add"]);
});
