import type { LayerCache } from "@towpath/artifacts";
import type { Layers } from "@towpath/core/build/contract";
import type { BuildWorkspace } from "@towpath/runtime";
import type { BuildLimits } from "../config.ts";
import type { BuildLogSink } from "../contract.ts";
import type { SourceTree } from "../fetch/index.ts";
import type { Plan } from "../plan/index.ts";
import { codeLayer } from "./code-layer.ts";
import { dependencyLayer } from "./dependency-layer.ts";
import type { ResolutionMemory } from "./resolution-memory.ts";

export type InstallInput = {
  readonly buildId: string;
  readonly plan: Plan;
  readonly source: SourceTree;
  readonly organizationId: string;
  /** Its volume `source` holds the source tree. */
  readonly workspace: BuildWorkspace;
  readonly pythonVersion: string;
  readonly limits: BuildLimits;
  readonly layers: Pick<LayerCache, "find">;
  readonly memory: ResolutionMemory;
  readonly log: BuildLogSink;
  readonly signal: AbortSignal;
};

/** Both layers at the same time; when one fails, the other one is ended before the failure goes on. */
export async function installLayers(input: InstallInput): Promise<Layers> {
  const failed = new AbortController();
  const both = { ...input, signal: AbortSignal.any([input.signal, failed.signal]) };
  const guarded = async (make: (input: InstallInput) => Promise<string>) => {
    try {
      return await make(both);
    } catch (error) {
      failed.abort(error);
      throw error;
    }
  };
  const results = await Promise.allSettled([guarded(dependencyLayer), guarded(codeLayer)]);
  const [dependencies, code] = results;
  if (dependencies.status === "rejected" || code.status === "rejected") throw failed.signal.reason;
  return { pythonVersion: input.pythonVersion, dependencies: dependencies.value, code: code.value };
}
