import { TowpathError } from "@towpath/core/errors";
import type { JobQueue } from "@towpath/core/ports";
import type { DatabaseClient } from "@towpath/db";

export function lazyQueue(_database: DatabaseClient): { queue: JobQueue; close(): Promise<void> } {
  return {
    queue: {
      enqueue: async () => {
        throw new TowpathError("not_configured", "The job queue is not wired yet.");
      },
    },
    close: async () => {},
  };
}
