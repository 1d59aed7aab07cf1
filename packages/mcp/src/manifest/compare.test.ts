import { expect, test } from "vitest";
import { compareManifests } from "./compare.ts";
import type { Manifest } from "./manifest.ts";
import { itemTokens, toolListTokens } from "./tokens.ts";

const empty: Manifest = {
  protocolVersion: "2025-11-25",
  server: { name: "weather", version: "1" },
  instructions: null,
  tools: [],
  resources: [],
  templates: [],
  prompts: [],
};
const tool = (
  tool_name: string,
  properties: Record<string, unknown> = {},
  required: readonly string[] = [],
  more: Partial<Manifest["tools"][number]> = {},
): Manifest["tools"][number] => ({
  tool_name,
  title: null,
  description: null,
  outputSchema: null,
  annotations: null,
  inputSchema: { type: "object", properties, required: [...required] },
  ...more,
});
const withTools = (...tools: Manifest["tools"]): Manifest => ({ ...empty, tools });
const text = { type: "string" };

test("BLD-14 added and removed tools, in the later order; removals break callers", () => {
  const changes = compareManifests(
    withTools(tool("old"), tool("stays")),
    withTools(tool("fresh"), tool("stays"), tool("more")),
  );
  expect(changes.map(({ name, change, breaking }) => [name, change, breaking])).toEqual([
    ["fresh", "added", false],
    ["more", "added", false],
    ["old", "removed", true],
  ]);
  expect(compareManifests(empty, empty)).toEqual([]);
});

test.each([
  ["an optional argument more", {}, [], { city: text }, [], ["city is new"], false],
  ["a required one more", {}, [], { city: text }, ["city"], ["city is new and required"], true],
  ["one less", { city: text }, [], {}, [], ["city is gone"], true],
  ["now required", { city: text }, [], { city: text }, ["city"], ["city is required"], true],
  ["now optional", { city: text }, ["city"], { city: text }, [], ["city is optional"], false],
  ["another type", { city: text }, [], { city: { type: "number" } }, [], ["city has another type"], true],
  [
    "another text",
    { city: text },
    [],
    { city: { ...text, title: "City" } },
    [],
    ["city is described differently"],
    false,
  ],
] as const)("BLD-14 a tool with %s", (_what, before, needed, after, needs, details, breaking) => {
  const changes = compareManifests(
    withTools(tool("weather", before, needed)),
    withTools(tool("weather", after, needs)),
  );
  expect(changes).toEqual([{ kind: "tool", name: "weather", change: "changed", breaking, details }]);
});

test("BLD-14 the order of members is no change; texts, output and other rules of the input are named", () => {
  const before = tool("weather", { city: { type: "string", minLength: 1 } });
  expect(
    compareManifests(withTools(before), withTools(tool("weather", { city: { minLength: 1, type: "string" } }))),
  ).toEqual([]);
  const after = { ...before, description: "How it is", outputSchema: { type: "object" } };
  const stricter = { ...after, inputSchema: { ...after.inputSchema, additionalProperties: false } };
  const [change] = compareManifests(withTools(before), withTools(stricter));
  expect(change?.details).toEqual(["other rules of the input", "another output", "another description"]);
  // A schema that is none, as a server may send it.
  const odd = { ...before, inputSchema: { properties: "none", required: 3 } };
  expect(compareManifests(withTools(odd), withTools(odd))).toEqual([]);
});

test("BLD-14 resources, templates and prompts too", () => {
  const named = { title: null, description: null, mimeType: null };
  const before: Manifest = {
    ...empty,
    resources: [{ ...named, resource_name: "readme", uri: "file:///readme" }],
    templates: [{ ...named, template_name: "city", uriTemplate: "city://{name}" }],
    prompts: [{ prompt_name: "ask", title: null, description: null, arguments: [] }],
  };
  const after: Manifest = {
    ...empty,
    resources: [{ ...named, resource_name: "readme", uri: "file:///readme", mimeType: "text/plain" }],
    prompts: [
      {
        prompt_name: "ask",
        title: null,
        description: null,
        arguments: [{ name: "about", description: null, required: true }],
      },
    ],
  };
  expect(compareManifests(before, after)).toEqual([
    { kind: "resource", name: "file:///readme", change: "changed", breaking: false, details: ["another MIME type"] },
    { kind: "template", name: "city://{name}", change: "removed", breaking: true, details: [] },
    { kind: "prompt", name: "ask", change: "changed", breaking: true, details: ["about is new and required"] },
  ]);
});

test("CAP-7 BLD-14 an item's tokens are those of its entry in the list, without what is null and its icons", () => {
  const listed = '{"name":"weather","inputSchema":{"type":"object","properties":{},"required":[]}}';
  const icons = [{ src: `data:image/png;base64,${"A".repeat(4000)}` }];
  expect(itemTokens(tool("weather", {}, [], { icons }))).toBe(Math.ceil(listed.length / 4));
  expect(toolListTokens(withTools(tool("weather"), tool("weather")))).toBe(Math.ceil((2 * listed.length + 3) / 4));
  expect(toolListTokens(empty)).toBe(0);
  expect(itemTokens({ prompt_name: "ask", title: null, description: "Asks", arguments: [] })).toBe(
    Math.ceil('{"name":"ask","description":"Asks","arguments":[]}'.length / 4),
  );
});
