import { expect, test } from "vitest";
import { whatHelps } from "./what-helps.ts";

test.each([
  ["Start the build again in a moment. If it fails again, the operator must check the network.", "again"],
  ["Redeploy the build. If it happens again, the operator finds the cause in the worker's log.", "again"],
  ["Add `KEY` under Settings → Environment variables, then build again.", "variables"],
  ["Set under Settings → Build what you would type after its name, and build again.", "build"],
  ["Correct the root directory in the project's settings, or leave it empty for the whole repository.", "build"],
  ["Choose another version under Settings → Package, or start the build again when it is less busy.", "package"],
  ["Add `httpx` to `requirements.txt`, and push.", "code"],
  ["Correct pyproject.toml and push again.", "code"],
  ["Remove large packages. If the dependencies are small, tell the operator that the disk is full.", "code"],
])("BLD-2 the first button after a failure is for what the remedy names first: %s", (remedy, way) => {
  expect(whatHelps(remedy)).toBe(way);
});
