export { type EmbeddedOptions, type EmbeddedPostgres, startEmbeddedPostgres } from "./postgres.ts";
