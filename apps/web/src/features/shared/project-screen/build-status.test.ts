import { expect, test } from "vitest";
import { buildState } from "./build-status.tsx";

test("BLD-1 PRJ-2 a build has one state: live says more than succeeded", () => {
  const live = { isLive: true, isProd: true };
  expect(buildState({ status: "succeeded", deployment: live })).toBe("Live");
  expect(buildState({ status: "succeeded", deployment: { isLive: true, isProd: false } })).toBe("Live preview");
  expect(buildState({ status: "succeeded", deployment: { isLive: false, isProd: true } })).toBe("Succeeded");
  expect(buildState({ status: "succeeded", deployment: null })).toBe("Succeeded");
  expect(buildState({ status: "building", deployment: live })).toBe("Building");
});
