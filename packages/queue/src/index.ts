export type { QueueSettings } from "./boss.ts";
export { type OpenJobQueue, openJobQueue } from "./open-job-queue.ts";
export { type JobHandlers, openWorkerQueue, type WorkerOptions, type WorkerQueue } from "./open-worker-queue.ts";
