export type { BuildSandbox } from "./build-sandbox.ts";
export { type InstallInput, installLayers } from "./install.ts";
export { ResolutionMemory } from "./resolution-memory.ts";
export { locateUv, type UvProgram } from "./uv-program.ts";
