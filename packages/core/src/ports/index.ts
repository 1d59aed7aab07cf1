export {
  type Clock,
  type EnqueueOptions,
  type JobName,
  type JobPayloads,
  type JobQueue,
  systemClock,
} from "./ports.ts";
