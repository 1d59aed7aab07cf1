export type { QueueSettings } from "./boss.ts";
export { type OpenJobQueue, openJobQueue } from "./open-job-queue.ts";
export { type JobHandlers, startWorkers, type WorkerSettings, type Workers } from "./start-workers.ts";
