import type { PodStatus } from "kubernetes-types/core/v1.js";
import { expect, test } from "vitest";
import type { Stored } from "../api/objects.ts";
import { lostStep, podStateOf } from "./build-pod-state.ts";

const names = ["files", "install", "code"];
const running = { state: { running: { startedAt: "2026-11-26T12:00:00Z" } } };
type State = NonNullable<NonNullable<PodStatus["containerStatuses"]>[number]["state"]>;
const statusOf = (install: { readonly state: State }, status: PodStatus = {}): PodStatus => ({
  phase: "Running",
  podIP: "10.1.2.3",
  containerStatuses: names.map((name) => ({
    ...{ name, image: "i", imageID: "", ready: true, restartCount: 0 },
    ...(name === "install" ? install : running),
  })),
  ...status,
});
const podWith = (status: PodStatus, metadata: object = {}): Stored<"pods"> => ({
  metadata: { name: "b", uid: "u", resourceVersion: "1", creationTimestamp: "2026-11-26T12:00:00Z", ...metadata },
  status,
});
const waiting = (reason: string, message: string) => ({ state: { waiting: { reason, message } } });
const terminated = (reason: string, exitCode = 137) => ({ state: { terminated: { reason, exitCode } } });
const deleted = { deletionTimestamp: "2026-11-26T12:00:00Z" };

test("a build's pod runs when all of its containers do", () => {
  expect(podStateOf(podWith(statusOf(running)))).toEqual({ kind: "running", address: "10.1.2.3" });
  const creating = statusOf(waiting("ContainerCreating", ""), { phase: "Pending" });
  expect(podStateOf(podWith(creating))).toEqual({ kind: "waiting", obstacle: null, isHopeless: false });
  expect(podStateOf(podWith({ phase: "Pending" }))).toMatchObject({ kind: "waiting", obstacle: null });
  for (const gone of [null, podWith(statusOf(running), deleted), podWith(statusOf(terminated("Error")))])
    expect(podStateOf(gone)).toEqual({ kind: "ended" });
  expect(podStateOf(podWith({ phase: "Failed", reason: "Evicted" }))).toEqual({ kind: "ended" });
});

test("BLD-2 an image that can't be had is an error at once, and a lack of room once nothing has come", () => {
  const image = podStateOf(podWith(statusOf(waiting("ImagePullBackOff", "not found"), { phase: "Pending" })));
  expect(image).toMatchObject({ kind: "waiting", isHopeless: true, obstacle: expect.stringContaining("not found") });
  const condition = { type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/1 nodes: cpu" };
  expect(podStateOf(podWith({ phase: "Pending", conditions: [condition] }))).toEqual({
    kind: "waiting",
    obstacle: "The cluster has no room for it: 0/1 nodes: cpu",
    isHopeless: false,
  });
});

test("BLD-2 why a step's container ended is told apart", () => {
  const lost = (status: PodStatus, metadata = {}) => lostStep(podWith(status, metadata), "install");
  const exit = (reason: string) => ({ reason, code: null, signal: null });
  const ended = (message: string) => expect.objectContaining({ code: "platform_ended", message });
  expect(lost(statusOf(terminated("OOMKilled")))).toEqual(exit("out-of-memory"));
  const evicted = (message: string) => ({ phase: "Failed", reason: "Evicted", message });
  const own = 'Usage of EmptyDir volume "dependencies" exceeds the limit "1Gi".';
  expect(lost(evicted(own))).toEqual(exit("disk-limit"));
  expect(lost(evicted("The node was low on resource: ephemeral-storage."))).toEqual(exit("disk-full"));
  const memory = "The node was low on resource: memory.";
  expect(lost(evicted(memory))).toEqual(ended(`The build's pod ended: it was evicted: ${memory}`));
  expect(lostStep(null, "install")).toEqual(ended("The build's pod ended: it was deleted."));
  expect(lost(statusOf(running), deleted)).toEqual(ended("The build's pod ended: it was deleted."));
  const unknown = { type: "Ready", status: "Unknown", reason: "NodeStatusUnknown" };
  expect(lost(statusOf(running, { conditions: [unknown] }))).toEqual(
    ended("The build's pod ended: its node doesn't answer."),
  );
  expect(lost(statusOf(terminated("Error", 1)))).toEqual(ended("The build's pod ended: its container ended: Error."));
  // Another container's end doesn't explain it.
  expect(lostStep(podWith(statusOf(terminated("OOMKilled"))), "code")).toBe(null);
  expect(lost(statusOf(running))).toBe(null);
});
