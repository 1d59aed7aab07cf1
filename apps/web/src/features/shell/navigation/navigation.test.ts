import { permissionsOf } from "@towpath/core/authorize";
import type { Role } from "@towpath/core/context";
import type { ProjectKind } from "@towpath/core/projects/project";
import { expect, test } from "vitest";
import { projectNavigation, projectScreens } from "./navigation.tsx";

/** The navigation of a server on one of its pages. */
function at(page: string, role: Role = "owner", kind: ProjectKind = "hosted", isPackage = false) {
  const key = { orgSlug: "acme", projectName: "weather" };
  const screens = projectScreens(key, permissionsOf(role), { branchId: null, kind, isPackage });
  const pathname = `/acme/weather${page}`;
  const { groups, tabs } = projectNavigation("weather", kind, screens, { pathname, shown: pathname });
  const entries = groups.flatMap(({ items }) => items);
  return {
    entries: entries.map(({ label }) => label),
    open: entries.filter(({ active }) => active).map(({ label }) => label),
    tabs: tabs?.tabs.map(({ label, isOpen }) => (isOpen ? `[${label}]` : label)).join(" ") ?? null,
  };
}

test.each([
  ["hosted", ["Overview", "Try it", "Logs", "Deployments", "Settings"]],
  ["external", ["Overview", "Try it", "Logs", "Settings"]],
  ["portal", ["Overview", "Try it", "Servers and tools", "Logs", "Settings"]],
] as const)("CAP-7 a server has at most five entries: %s", (kind, entries) => {
  for (const role of ["owner", "viewer"] as const) expect(at("", role, kind).entries).toEqual(entries);
});

test.each([
  ["", "Overview", null],
  ["/", "Overview", null],
  ["/chat", "Try it", "Inspector [Chat] Surface"],
  ["/surface/tool/echo", "Try it", "Inspector Chat [Surface]"],
  ["/logs", "Logs", "[Calls] Errors Sessions Users Server output Sign-ins"],
  ["/sessions/one", "Logs", "Calls Errors [Sessions] Users Server output Sign-ins"],
  ["/server-logs/b1", "Logs", "Calls Errors Sessions Users [Server output] Sign-ins"],
  ["/build-logs/b1", "Deployments", "[Deployments] Code"],
  ["/settings", "Settings", "[General] Access Limits Clients Admin JWT"],
  ["/nowhere", undefined, null],
])("CAP-7 the others are tabs of the open entry: %s", (page, entry, tabs) => {
  expect(at(page)).toMatchObject({ open: entry === undefined ? [] : [entry], tabs });
});

test("CAP-7 ORG-6 a role or a kind of server has the tabs that it may open", () => {
  expect(at("/settings", "viewer").tabs).toBe("[General] Access Limits");
  expect(at("/logs", "viewer").tabs).toBe("[Calls] Errors Sessions Users Server output");
  expect(at("/inspector", "owner", "external").tabs).toBe("[Inspector] Surface");
  expect(at("/logs", "owner", "portal").tabs).toBe("[Calls] Errors Sessions Users Sign-ins");
  expect(at("/settings", "owner", "portal").tabs).toBe("[General] Access Limits Clients Admin JWT");
  // One tab alone would lead nowhere.
  expect(at("/deployments", "viewer").tabs).toBeNull();
  expect(at("/deployments", "owner", "hosted", true).tabs).toBeNull();
});
