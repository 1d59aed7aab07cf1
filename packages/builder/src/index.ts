export { type Builder, createBuilder } from "./build.ts";
export { type BuilderConfig, type BuildLimits, defaultBuildLimits, pickBuildEnvironment } from "./config.ts";
export {
  type BuildLogKind,
  type BuildLogSink,
  type BuildPhase,
  type BuildRequest,
  type BuildResult,
  type BuildWarning,
  buildPhases,
  buildWarningSchema,
  type Diagnosis,
  diagnosisSchema,
  type Layers,
  layersSchema,
} from "./contract.ts";
