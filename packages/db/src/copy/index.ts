export { beginLoad, type DatabaseLoad, LoadRefused, migrationsOf } from "./load.ts";
export { type DatabaseSnapshot, openSnapshot } from "./snapshot.ts";
