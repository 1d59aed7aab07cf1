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

test("CAP-8 a version that waits for an approval, is released or went back is not just succeeded", () => {
  const built = { status: "succeeded", deployment: { isLive: false, isProd: true } } as const;
  const release = { state: "running", share: 25, reason: null } as const;
  expect(buildState({ ...built, approval: "waiting" })).toBe("Waits for approval");
  expect(buildState({ ...built, approval: "rejected" })).toBe("Rejected");
  expect(buildState({ ...built, approval: "approved", release })).toBe("25 % of new sessions");
  expect(buildState({ ...built, release: { ...release, state: "went-back" } })).toBe("Went back");
  const live = { ...built, deployment: { isLive: true, isProd: true } };
  expect(buildState({ ...live, approval: "approved", release: { ...release, state: "finished" } })).toBe("Live");
  // Made live after all.
  expect(buildState({ ...live, release: { ...release, state: "went-back" } })).toBe("Live");
});
