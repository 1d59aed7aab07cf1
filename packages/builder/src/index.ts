export { type Builder, createBuilder } from "./build.ts";
export { type BuilderConfig, type BuildLimits, defaultBuildLimits } from "./config.ts";
export type { BuildLogSink, BuildRequest, BuildResult, LateServer, StartedServer } from "./contract.ts";
export { packageSource } from "./fetch/package-source.ts";
