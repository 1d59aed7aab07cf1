import { setTimeout as sleep } from "node:timers/promises";
import type { Exit, InstanceHandle, RuntimeDriver } from "@towpath/runtime";
import { createFakeDriver, tinyServer } from "@towpath/runtime/testing";

export type LightDriver = {
  readonly driver: RuntimeDriver;
  readonly running: ReadonlySet<string>;
  /** The most that ran, or were starting, at the same time. */
  readonly peak: { running: number; starting: number };
  /** Kills the process of an instance; its exit is reported `reportedAfterMs` later. */
  kill(instanceId: string, reportedAfterMs: number): void;
  /** Ends all with their parent. */
  killShim(): void;
};

/** A driver without processes, for tests with hundreds of servers. Each start takes a few milliseconds. */
export function createLightDriver(memoryBytes: () => number | null = () => null): LightDriver {
  const running = new Set<string>();
  const peak = { running: 0, starting: 0 };
  const kills = new Map<string, (exit: Exit, reportedAfterMs: number) => void>();
  let starting = 0;
  const fake = createFakeDriver(tinyServer.driverConfig("/tmp"));
  const handleOf = (instanceId: string): InstanceHandle => {
    const { promise: exited, resolve } = Promise.withResolvers<Exit>();
    let hasEnded = false;
    const end = async (exit: Exit, afterMs: number) => {
      hasEnded = true;
      await sleep(afterMs);
      running.delete(instanceId);
      resolve(exit);
    };
    kills.set(instanceId, (exit, ms) => void end(exit, ms));
    return {
      instanceId,
      endpoint: { kind: "unix", path: `/light/${instanceId}`, secret: instanceId },
      isAlive: async () => !hasEnded,
      exited,
      freeze: async () => true,
      wake: async () => {},
      memoryBytes: async () => memoryBytes(),
      async stop() {
        if (!hasEnded) void end({ reason: "stopped", code: null, signal: null }, 3);
        return await exited;
      },
    };
  };
  return {
    running,
    peak,
    kill: (instanceId, reportedAfterMs) =>
      kills.get(instanceId)?.({ reason: "signaled", code: null, signal: "SIGKILL" }, reportedAfterMs),
    killShim() {
      for (const id of running) kills.get(id)?.({ reason: "platform-ended", code: null, signal: null }, 0);
    },
    driver: {
      ...fake,
      name: "light",
      servers: {
        ...fake.servers,
        async start({ instanceId }) {
          starting += 1;
          running.add(instanceId);
          peak.starting = Math.max(peak.starting, starting);
          peak.running = Math.max(peak.running, running.size);
          await sleep(5);
          starting -= 1;
          return { ok: true, handle: handleOf(instanceId), startMs: 5 };
        },
      },
      close: async () => {},
    },
  };
}
