import { mkdir, rm } from "node:fs/promises";
import { createHostDriver } from "../host/driver.ts";
import type { Engine, HostDriverConfig } from "../host/engine.ts";
import { defaultFloodLimits, type FloodLimits } from "../host/process/flood.ts";
import { spawnPlain } from "../host/process/plain.ts";
import { runToEnd } from "../host/process/run-to-end.ts";
import type { RunningProcess, Spawner } from "../host/process/running-process.ts";
import { startServer } from "../host/server/start-server.ts";
import type { RuntimeDriver } from "../port/driver.ts";
import type { InstanceHandle } from "../port/servers.ts";

/** A driver without isolation or limits, for tests of the port's users. Passes `driverContract`. */
export const createFakeDriver = (config: HostDriverConfig & { readonly floodLimits?: FloodLimits }): RuntimeDriver =>
  createHostDriver(createFakeEngine(config), config);

export function createFakeEngine(config: { readonly floodLimits?: FloodLimits } = {}): Engine {
  const running = new Set<RunningProcess>();
  const handles = new Set<InstanceHandle>();
  const spawn: Spawner = async (spec, reader) => {
    const started = await spawnPlain(spec, reader);
    running.add(started);
    void started.ended.then(() => running.delete(started));
    return started;
  };
  return {
    name: "fake",
    selfTest: async () => ({
      checks: [],
      isolatedBy: "none",
      trusted: true,
      refuses: false,
      exceptions: [],
      problems: [],
    }),
    usesHostPaths: async () => true,
    run: (spec, options) => runToEnd(spawn, spec, options),
    async start(launch, onOutput) {
      const shared = `${launch.socketDirectory}/shared`;
      await mkdir(shared, { recursive: true });
      const remove = () => rm(launch.socketDirectory, { recursive: true, force: true });
      const directory = { own: launch.socketDirectory, shared, remove };
      const result = await startServer(spawn, directory, launch, onOutput, config.floodLimits ?? defaultFloodLimits);
      if (result.ok) {
        handles.add(result.handle);
        void result.handle.exited.then(() => handles.delete(result.handle));
      }
      return result;
    },
    adopt: async () => [],
    async close() {
      await Promise.all([...handles].map((handle) => handle.stop(0)));
      await Promise.all([...running].map((each) => each.kill().then(() => each.ended)));
    },
  };
}
