export {
  type JobHandlers,
  type OpenJobQueue,
  openJobQueue,
  openWorkerQueue,
  type WorkerOptions,
  type WorkerQueue,
} from "./queue.ts";
