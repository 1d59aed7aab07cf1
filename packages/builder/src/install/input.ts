import type { LayerCache } from "@towpath/artifacts";
import type { BuildWorkspace } from "@towpath/runtime";
import type { BuildLimits } from "../config.ts";
import type { BuildLogSink } from "../contract.ts";
import type { SourceTree } from "../fetch/source-tree.ts";
import type { Plan } from "../plan/plan.ts";
import type { Requirers } from "./exact-list.ts";
import type { ResolutionMemory } from "./resolution-memory.ts";

export type InstallInput = {
  readonly buildId: string;
  readonly plan: Plan;
  readonly source: SourceTree;
  readonly organizationId: string;
  /** Its volume `source` contains the source tree. */
  readonly workspace: BuildWorkspace;
  readonly pythonVersion: string;
  readonly limits: BuildLimits;
  readonly layers: Pick<LayerCache, "find">;
  readonly memory: ResolutionMemory;
  readonly log: BuildLogSink;
  readonly signal: AbortSignal;
  /** Packages that the index received later don't count; null: all current ones. */
  readonly asOf: Date | null;
  /** Versions of an earlier build to keep if the requirements and the index allow it; null: any. */
  readonly pins: readonly string[] | null;
  /** Known if versions were resolved. */
  readonly requirers?: Requirers;
};

export type MadeLayer = { readonly digest: string; readonly reused: boolean };
