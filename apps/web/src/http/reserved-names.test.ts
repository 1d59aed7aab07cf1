import { readFile } from "node:fs/promises";
import { isReservedName, isReservedSlug } from "@towpath/core/projects/reserved-names";
import { expect, test } from "vitest";

/** The segments of every route, such as `["$orgSlug", "servers"]`. */
async function paths(): Promise<readonly (readonly string[])[]> {
  const tree = await readFile(new URL("../routeTree.gen.ts", import.meta.url), "utf8");
  const listed = /interface FileRoutesByFullPath \{(.*?)\n\}/s.exec(tree)?.[1] ?? "";
  return [...listed.matchAll(/"(\/[^"]*)"/g)].map(([, path = ""]) => path.split("/").filter(Boolean));
}

const isFixed = (segment: string | undefined): segment is string => segment !== undefined && !segment.startsWith("$");

test("VAL-1 ONB-1 the names of routes are reserved for organizations and projects", async () => {
  const all = await paths();
  const first = all.map(([segment]) => segment).filter(isFixed);
  const below = all.filter(([segment]) => segment === "$orgSlug").map(([, segment]) => segment);
  expect(new Set(first)).toContain("account");
  expect(new Set(below)).toContain("servers");
  expect([...new Set(first)].filter((segment) => !isReservedSlug(segment))).toEqual([]);
  expect([...new Set(below)].filter(isFixed).filter((segment) => !isReservedName(segment))).toEqual([]);
});

// Reserved by the specification, some for routes that don't exist yet.
test.each(["servers", "portals", "settings", "welcome"])("VAL-1 the project name %s is reserved", (name) => {
  expect(isReservedName(name)).toBe(true);
});

test.each([..."app account welcome new blog pricing login logout signup api docs v0-1".split(" ")])(
  "ONB-1 the organization's slug %s is reserved",
  (slug) => {
    expect(isReservedSlug(slug)).toBe(true);
  },
);
