import { SandboxError } from "@towpath/runtime";
import { expect, test } from "vitest";
import { diagnoseEnd } from "./diagnose.ts";

test("BLD-2 a cluster without room and a pod that was ended are no fault of the repository, and may pass", () => {
  const detail = "The cluster's quota for builds is used up: pods.";
  expect(diagnoseEnd(new SandboxError("no_room", detail), "fetch", null)).toMatchObject({
    code: "internal_error",
    title: "The platform has no room for the build at the moment",
    detail,
    action: { kind: "rebuild" },
  });
  expect(diagnoseEnd(new SandboxError("platform_ended", "Its node was lost."), "install", null)).toMatchObject({
    title: "The build was interrupted",
    action: { kind: "rebuild" },
  });
  expect(diagnoseEnd(new SandboxError("isolation_unavailable", "No."), "fetch", null)).toMatchObject({
    title: "This platform can't isolate builds at the moment",
  });
  expect(diagnoseEnd(new SandboxError("unreachable", "The API is gone."), "fetch", null)).toBeNull();
  expect(diagnoseEnd(new Error("another"), "fetch", null)).toBeNull();
});
