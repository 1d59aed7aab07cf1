import type { JobQueue } from "@towpath/core/ports";
import { openBoss, type QueueSettings, queueOf } from "./boss.ts";

export type OpenJobQueue = JobQueue & { close(): Promise<void> };

/** For processes that only put jobs in (web). Creates the queue's tables when this is the first process. */
export async function openJobQueue(settings: QueueSettings): Promise<OpenJobQueue> {
  const boss = await openBoss(settings, false);
  return { ...queueOf(boss), close: () => boss.stop({ graceful: false }) };
}
