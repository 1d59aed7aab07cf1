export {
  addressOf,
  type Clock,
  type EnqueueOptions,
  gitHubNotConfigured,
  type JobName,
  type JobPayloads,
  type JobQueue,
  jobPayloadSchemas,
  type RepositoryAddress,
  type RepositoryHost,
  requireRepositoryHost,
  systemClock,
} from "./ports.ts";
