import { expect, test } from "vitest";
import { createSessionIds } from "./sessions.ts";

test("GW-6 a session id that an earlier version gave out stays valid, for its owner only", () => {
  const ids = createSessionIds("a root secret for tests, of 32 characters or more");
  const id = "s1.WyJhYmMiLCJkMSIsImkxIiwiYyIsIjEiLCIyMDI1LTA2LTE4Il0.MOENYfRSdLvAF5HdFPP5FxRt5JtJ-JIyZKWkPdVzKvk";
  const owner = { projectId: "p1", label: "echo", principal: "anonymous" };
  const session = {
    serverId: "abc",
    deploymentId: "d1",
    instanceId: "i1",
    opening: null,
    clientName: "c",
    clientVersion: "1",
    protocolVersion: "2025-06-18",
  };
  expect(ids.open(id, owner)).toEqual(session);
  expect(ids.seal(session, owner)).toBe(id);
  expect(ids.open(id, { ...owner, principal: "somebody" })).toBeNull();
  expect(ids.open(`${id.slice(0, -1)}A`, owner)).toBeNull();
});
