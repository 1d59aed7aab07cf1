export {
  type MemoryQueue,
  memoryQueue,
  type SeededOrganization,
  seedOrganization,
  seedProject,
  seedUser,
  shaOf,
  testContext,
} from "./seed.ts";
