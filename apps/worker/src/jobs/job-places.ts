import type { WorkerOptions } from "@towpath/queue";
import type { WorkerConfig } from "../config.ts";

type Places = Pick<WorkerOptions, "concurrency" | "concurrencyOfGroup">;

/** How many jobs of each kind a worker does at a time, and how many of these for one organization. */
export function jobPlaces(config: Pick<WorkerConfig, "buildConcurrency" | "buildsOfOrganization">): Places {
  return {
    concurrency: {
      "webhook.process": 2,
      // They wait for GitHub and hold nothing meanwhile.
      "branch.sync": 6,
      "installation.sync": 1,
      "build.run": config.buildConcurrency,
    },
    concurrencyOfGroup: { "branch.sync": 3, "build.run": config.buildsOfOrganization },
  };
}
