import type { JobQueue } from "@towpath/core/ports";
import { type OpenJobQueue, openJobQueue } from "@towpath/queue";
import type { Logger } from "pino";

/** The job queue, opened in the background: the site answers while it connects, and again after it was away. */
export function backgroundQueue(
  databaseUrl: string,
  log: Logger,
): { readonly queue: JobQueue; open(): void; close(): Promise<void> } {
  let opening: Promise<OpenJobQueue> | undefined;
  const opened = () => {
    opening ??= openJobQueue({
      databaseUrl,
      onProblem: (problem) => log.warn({ err: problem }, "job queue"),
    }).catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };
  return {
    queue: { enqueue: async (name, payload, options) => (await opened()).enqueue(name, payload, options) },
    open: () => void opened().catch((error: unknown) => log.warn({ err: error }, "the job queue cannot be opened yet")),
    close: async () => {
      const queue = await opening?.catch(() => undefined);
      await queue?.close();
    },
  };
}
