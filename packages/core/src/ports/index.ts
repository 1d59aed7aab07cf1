export {
  addressOf,
  type Clock,
  type EnqueueOptions,
  gitHubNotConfigured,
  type JobName,
  type JobPayloads,
  type JobQueue,
  type RepositoryAddress,
  type RepositoryHost,
  requireRepositoryHost,
  systemClock,
} from "./ports.ts";
