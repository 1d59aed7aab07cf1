import type { Base } from "../parts.ts";
import { gauge } from "../platform/metrics.ts";
import { KeptTaskStore } from "../read-model/kept-tasks.ts";
import { createTaskIds } from "../tasks/task-ids.ts";
import { TaskNotices } from "../tasks/task-notices.ts";
import { type TaskParts, Tasks } from "../tasks/tasks.ts";
import { createArgumentsHash } from "./arguments-hash.ts";
import { type KeptCallParts, KeptCalls } from "./kept-calls.ts";
import { SealedResults } from "./sealed-results.ts";

type KeptParts = Pick<KeptCallParts, "recorder" | "pendingCalls" | "openResponses"> & Pick<TaskParts, "reach">;

/** Calls that may be asked for again. */
export function createKeptCalls(base: Base, parts: KeptParts) {
  const { config, log, pool, notifications, announce } = base;
  const { secret, secrets, keptBytes: quota, share } = config;
  const results = new SealedResults(secret, secrets.previous);
  const hashArguments = createArgumentsHash(secret, secrets.previous);
  const keptCalls = new KeptCalls({ ...parts, pool, log, results, hashArguments, quota, share, announce });
  const store = new KeptTaskStore(pool, keptCalls.store, quota);
  const ids = createTaskIds(secret, secrets.previous);
  const taskNotices = new TaskNotices({ store, results, ids, reach: parts.reach, log });
  return {
    keptCalls,
    taskNotices,
    tasks: new Tasks({ ...parts, log, keptCalls, store, results, ids, taskNotices }),
    readings: [gauge("calls_unattended", "Calls that run without their client", () => keptCalls.unattended)],
    /** Returns a function that ends it. */
    start() {
      const stops = [
        keptCalls.start(notifications, { sweeps: config.workerIndex === 0 }),
        taskNotices.start(notifications),
      ];
      return () => {
        for (const stop of stops) stop();
      };
    },
  };
}
