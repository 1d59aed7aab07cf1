import { expect, test } from "vitest";
import { screenOf } from "./shell-location.ts";

test.each([
  ["/$orgSlug/$projectName/logs", "/logs"],
  ["/$orgSlug/$projectName/tools/{-$toolName}", "/tools"],
  ["/$orgSlug/$projectName/sessions/", "/sessions"],
  ["/$orgSlug/$projectName/", ""],
  ["/$orgSlug/$projectName/build-logs/$buildId", ""],
  ["/$orgSlug/servers", ""],
])("UI-4 another server opens on the same screen, but not on one of an item: %s", (routeId, screen) => {
  expect(screenOf(routeId)).toBe(screen);
});
