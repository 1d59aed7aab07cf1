import type { ContainerState, PodStatus } from "kubernetes-types/core/v1.js";
import { expect, test } from "vitest";
import type { Stored } from "../api/objects.ts";
import { hasStarted, podEnd, podObstacle } from "./pod-end.ts";

const pod = (status: Partial<PodStatus>) => ({ metadata: {}, status }) as Stored<"pods">;
const server = (state: ContainerState, more: Partial<PodStatus> = {}) =>
  pod({
    ...more,
    containerStatuses: [{ name: "server", state, image: "", imageID: "", ready: false, restartCount: 0 }],
  });
const ended = (exitCode: number, more: Partial<NonNullable<ContainerState["terminated"]>> = {}) =>
  server({ terminated: { exitCode, ...more } });
const disrupted = (reason: string) => ({
  phase: "Failed",
  conditions: [{ type: "DisruptionTarget", status: "True", reason }],
});

test("RUN-7 a pod that waits or runs has not ended", () => {
  for (const each of [
    pod({}),
    pod({ phase: "Pending" }),
    server({ running: {} }),
    server({ waiting: { reason: "x" } }),
  ])
    expect(podEnd(each)).toBeNull();
  expect([server({ running: {} }), ended(0)].map(hasStarted)).toEqual([true, true]);
  expect([pod({}), server({ waiting: {} })].map(hasStarted)).toEqual([false, false]);
});

test("RUN-7 how a pod ended is distinguished: by itself, by its memory, by its node, by the cluster", () => {
  const exitOf = (each: Stored<"pods">) => podEnd(each)?.exit;
  const none = { code: null, signal: null };
  expect(exitOf(ended(7))).toEqual({ reason: "exited", code: 7, signal: null });
  expect(exitOf(ended(143, { message: '{"signal": "SIGTERM"}' }))).toEqual({
    ...none,
    reason: "signaled",
    signal: "SIGTERM",
  });
  expect(exitOf(ended(137))).toEqual({ ...none, reason: "signaled", signal: "SIGKILL" });
  expect(exitOf(ended(137, { reason: "OOMKilled" }))).toEqual({ ...none, reason: "out-of-memory", signal: "SIGKILL" });
  expect(exitOf(ended(137, { reason: "ContainerStatusUnknown" }))).toEqual({ ...none, reason: "platform-ended" });
  const full = {
    phase: "Failed",
    reason: "Evicted",
    message: 'Usage of EmptyDir volume "layers" exceeds the limit "8Gi".',
  };
  expect(exitOf(pod(full))).toEqual({ ...none, reason: "disk-limit" });
  expect(exitOf(pod({ ...full, message: "The node was low on resource: memory." }))?.reason).toBe("platform-ended");
  for (const reason of ["DeletionByTaintManager", "EvictionByEvictionAPI", "PreemptionByScheduler"]) {
    expect(exitOf(server({ terminated: { exitCode: 0 } }, disrupted(reason)))?.reason).toBe("platform-ended");
    expect(podEnd(pod(disrupted(reason)))?.sentence).toMatch(/^(Kubernetes|The node) .*\.$/);
  }
  expect(podEnd(pod({ phase: "Failed", reason: "NodeShutdown", message: "it shuts down" }))).toMatchObject({
    exit: { reason: "platform-ended" },
    sentence: "Kubernetes ended the server: it shuts down",
  });
});

test("RUN-7 a server that has ended in a pod that waited has ended, though its container starts again", () => {
  const status = { name: "server", image: "", imageID: "", ready: false, restartCount: 1, state: { running: {} } };
  const again = (terminated: { exitCode: number; reason?: string }) =>
    pod({ containerStatuses: [{ ...status, lastState: { terminated } }] });
  expect(podEnd(again({ exitCode: 3 }))?.exit).toMatchObject({ reason: "exited", code: 3 });
  expect(podEnd(again({ exitCode: 137, reason: "OOMKilled" }))?.exit.reason).toBe("out-of-memory");
});

test("RUN-7 what the programs in a pod report is read, and only that", () => {
  const failed = {
    state: "failed",
    code: "module_missing",
    message: "No module named 'nowhere'",
    file: "server.py",
    line: 3,
    module: "nowhere",
    candidates: [],
    traceback: null,
  };
  expect(podEnd(ended(1, { message: JSON.stringify({ failed }) }))?.failure).toEqual(failed);
  const late = { afterMs: 1500, processorMs: 20, activity: "waiting" };
  expect(podEnd(ended(124, { message: JSON.stringify({ late }) }))).toMatchObject({ late, failure: null });
  for (const message of ["", "{", '{"failed": {"state": "ready"}}', '{"late": 3}', "[]"])
    expect(podEnd(ended(1, { message })), message).toMatchObject({ exit: { code: 1 }, failure: null, late: null });
  const fetch = (message: string) =>
    pod({
      containerStatuses: [
        {
          name: "fetch",
          state: { terminated: { exitCode: 1, message } },
          image: "",
          imageID: "",
          ready: false,
          restartCount: 0,
        },
      ],
    });
  expect(podEnd(fetch('{"layer": "not_found", "detail": "HTTP 404"}'))?.layer).toEqual({
    code: "not_found",
    detail: "HTTP 404",
  });
  expect(podEnd(fetch("killed"))?.layer).toEqual({ code: "unavailable", detail: "status 1" });
});

test("RUN-7 an image that can't be had and a cluster without room are named", () => {
  expect(podObstacle(server({ waiting: { reason: "ImagePullBackOff", message: "no such host" } }))).toEqual({
    kind: "image",
    message: "The image of servers can't be had (ImagePullBackOff): no such host",
  });
  const conditions = [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/3 nodes fit" }];
  expect(podObstacle(pod({ conditions }))).toEqual({ kind: "room", message: "0/3 nodes fit" });
  const message = "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims.";
  const unbound = [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message }];
  expect(podObstacle(pod({ conditions: unbound }))?.message).toMatch(
    /Claims\. Check that TOWPATH_KUBERNETES_STORAGE_CLASS/,
  );
  expect(podObstacle(server({ waiting: { reason: "ContainerCreating" } }))).toBeNull();
});
