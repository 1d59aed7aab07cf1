export { cloneUrl, keepRepository, requireRepository } from "./repository.store.ts";
