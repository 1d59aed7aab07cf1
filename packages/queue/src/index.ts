export {
  type JobHandlers,
  type OpenJobQueue,
  openJobQueue,
  openWorkerQueue,
  type QueueSettings,
  type WorkerOptions,
  type WorkerQueue,
} from "./queue.ts";
