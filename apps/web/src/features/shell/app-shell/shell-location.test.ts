import { permissionsOf } from "@towpath/core/authorize";
import { expect, test } from "vitest";
import { hasScreen, screenOf } from "./shell-location.ts";

test.each([
  ["/$orgSlug/$projectName/logs", "/logs"],
  ["/$orgSlug/$projectName/surface/", "/surface"],
  ["/$orgSlug/$projectName/surface/$itemKind/$itemName", ""],
  ["/$orgSlug/$projectName/sessions/", "/sessions"],
  ["/$orgSlug/$projectName/", ""],
  ["/$orgSlug/$projectName/build-logs/$buildId", ""],
  ["/$orgSlug/servers", ""],
])("UI-4 another server opens on the same screen, but not on one of an item: %s", (routeId, screen) => {
  expect(screenOf(routeId)).toBe(screen);
});

test.each([
  ["hosted", "/deployments", true],
  ["portal", "/deployments", false],
  ["portal", "/logs", true],
  ["portal", "/surface", true],
  ["portal", "/server-logs", false],
  ["portal", "/servers", true],
  ["external", "/servers", false],
  ["external", "", true],
] as const)(
  "UI-4 ORG-3 the switcher keeps the screen where the other server or portal has it: %s %s",
  (kind, screen, kept) => {
    const project = { orgSlug: "acme", projectName: "other", kind };
    expect(hasScreen(project, permissionsOf("owner"), screen)).toBe(kept);
  },
);
