export { type Clock, type JobName, type JobPayloads, type JobQueue, systemClock } from "./ports.ts";
