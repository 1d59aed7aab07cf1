import type { BuildWarning, DiagnosisCode } from "@towpath/core/build/contract";
import type { Failure } from "../failure.ts";
import type { Plan } from "../plan/plan.ts";
import type { Pin } from "../source/requirements-file.ts";

// A server whose dependencies aren't pinned may have been broken by what they released since it was written, and one that
// is imported from its repository by where it is. Such a server is built again in other ways, one after another
// (docs/decisions/049-dependencies-of-their-time.md).

/** How an attempt differs from a build of what the source requires, with today's versions. */
export type Changes = {
  /** The project's package is built and installed, instead of imported from the repository. */
  readonly isInstalled?: true;
  /** One more requirement, such as `mcp<2`. */
  readonly requirement?: string;
  /** Packages that the index got later don't count. */
  readonly asOf?: Date;
};

/** What was built. `exact`: its versions as in a requirements file. `madeAt`: when its source was made; null: unknown. */
export type Made = { readonly plan: Plan; readonly exact: string; readonly madeAt: Date | null };

export type FailedBuild = {
  readonly made: Made;
  /** Of the server as it is required. */
  readonly first: Failure;
  /** Of the latest attempt whose server was started; at the beginning the first. */
  readonly last: Failure;
  /** The source is a published package, which nobody here can change. */
  readonly isPackage: boolean;
  readonly now: Date;
  /** When the index got a version; rejects, or resolves to null, where it doesn't say. */
  readonly uploadedAt: (pin: Pin) => Promise<Date | null>;
};

export type Attempt = {
  readonly changes: Changes;
  /** Why it may help: the end of a sentence. */
  readonly why: string;
  /** The beginning of what the log says, before the failure's title, when it fails to install or to start. */
  readonly failed: { readonly install: string; readonly start: string };
  /** For a server that starts this way; null where nothing differs for its author. */
  readonly warningFor: (made: Made) => BuildWarning | null;
  /** What to report where its server fails, too; null: the failure before. */
  readonly reportFor: (again: Failure) => Failure | null;
};

/** Something to try after a failure; null where it can't help. */
export type Strategy = (build: FailedBuild) => Promise<Attempt | null>;

/** What a dependency causes that lacks today what it had, and what the place of the code causes. */
const retryable: ReadonlySet<DiagnosisCode> = new Set([
  ...(["module_missing", "import_failed", "factory_failed", "lifespan_failed"] as const),
  ...(["mcp_version_mismatch", "keyword_removed", "dependency_mismatch", "exited_early", "protocol_error"] as const),
]);

/** Whether another attempt may succeed. If not, the failure says more than those before: the server has come further. */
export const isRetryable = ({ diagnosis }: Failure): boolean => retryable.has(diagnosis.code);
