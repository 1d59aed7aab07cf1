import fc from "fast-check";
import { expect, test } from "vitest";
import type { Manifest } from "../manifest/index.ts";
import { createCatalog, type PortalMember, resolveResource } from "./catalog.ts";

type Offered = { tools?: string[]; resources?: string[]; templates?: string[]; prompts?: string[] };
const texts = { title: null, description: null, mimeType: null };

function member(prefix: string, offered: Offered, chosen: Partial<PortalMember> = {}): PortalMember {
  const manifest: Manifest = {
    protocolVersion: "2025-11-25",
    server: { name: prefix, version: "1" },
    instructions: null,
    tools: (offered.tools ?? []).map((tool_name) => ({
      tool_name,
      ...texts,
      inputSchema: {},
      outputSchema: null,
      annotations: null,
    })),
    resources: (offered.resources ?? []).map((uri) => ({ resource_name: uri, uri, ...texts })),
    templates: (offered.templates ?? []).map((uriTemplate) => ({ template_name: uriTemplate, uriTemplate, ...texts })),
    prompts: (offered.prompts ?? []).map((prompt_name) => ({ prompt_name, ...texts, arguments: [] })),
  };
  return { projectId: prefix, prefix, tools: null, resources: null, prompts: null, manifest, ...chosen };
}

const exposed = (items: readonly { exposed: string }[]) => items.map((item) => item.exposed);

test("ORG-3 names stay plain, and where several servers have one, none keeps it: each gets its server's prefix", () => {
  const members = [
    member("weather", { tools: ["forecast", "search"], prompts: ["ask"], resources: ["doc://a"] }),
    member("wiki", { tools: ["search", "page"], prompts: ["ask"], resources: ["doc://a", "doc://b"] }),
  ];
  const catalog = createCatalog(members);
  expect(exposed(catalog.tools)).toEqual(["forecast", "weather_search", "wiki_search", "page"]);
  expect(exposed(catalog.prompts)).toEqual(["weather_ask", "wiki_ask"]);
  expect(exposed(catalog.resources)).toEqual(["weather+doc://a", "wiki+doc://a", "doc://b"]);
  expect(catalog.tools[2]).toMatchObject({ projectId: "wiki", own: "search" });
  // In another order the names are the same: only the list is in that of the servers.
  expect(new Set(exposed(createCatalog(members.toReversed()).tools))).toEqual(new Set(exposed(catalog.tools)));
});

test("ORG-3 only chosen items count, and a server with unknown lists offers nothing", () => {
  const catalog = createCatalog([
    member("a", { tools: ["x", "y"], resources: ["r://1"] }, { tools: ["x"], resources: [] }),
    member("b", { tools: ["y"] }),
    member("c", {}, { manifest: null }),
  ]);
  expect(exposed(catalog.tools)).toEqual(["x", "y"]);
  expect(catalog.resources).toEqual([]);
});

test("ORG-3 a resource is read where it is listed, else where a template matches, by the name that its server knows", () => {
  const members = [
    member("a", { templates: ["user://{id}", "file://{path}/x"] }),
    member("b", { resources: ["user://1"], templates: ["user://{id}"] }),
  ];
  const catalog = createCatalog(members);
  const resolve = (uri: string) => resolveResource(catalog, members, uri);
  expect(exposed(catalog.templates)).toEqual(["a+user://{id}", "file://{path}/x", "b+user://{id}"]);
  expect(resolve("user://1")).toEqual({ projectId: "b", own: "user://1" });
  expect(resolve("a+user://7")).toEqual({ projectId: "a", own: "user://7" });
  expect(resolve("file://etc/x")).toEqual({ projectId: "a", own: "file://etc/x" });
  for (const unknown of ["user://7", "file://etc/y", "c+user://7", ""]) expect(resolve(unknown)).toBeNull();
});

test("ORG-3 names are unique and lead to one tool each, with any names of the servers' tools", () => {
  const name = fc.constantFrom("a", "b", "a_b", "b_a", "a_a_b", "x_a", "c");
  const prefixes = ["a", "b", "x"];
  fc.assert(
    fc.property(fc.array(fc.uniqueArray(name), { maxLength: 3 }), (lists) => {
      const members = lists.map((tools, at) => member(prefixes[at] ?? "", { tools }));
      const { tools } = createCatalog(members);
      expect(tools).toHaveLength(lists.flat().length);
      expect(new Set(exposed(tools)).size).toBe(tools.length);
      const plain = Map.groupBy<string, string>(lists.flat(), (each) => each);
      // An item whose name is unique, and not taken by a prefixed one, keeps it.
      for (const item of tools) if (item.exposed === item.own) expect(plain.get(item.own)).toHaveLength(1);
    }),
  );
});
