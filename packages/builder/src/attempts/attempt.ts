import type { BuildWarning, DiagnosisCode } from "@towpath/core/delivery/build/contract";
import type { Failure } from "../failure.ts";
import type { Plan } from "../plan/plan.ts";
import type { Pin } from "../source/requirements-file.ts";

// A server may be broken by newer releases of unpinned dependencies, or by being imported from its repository instead
// of installed. Such a server is built again in other ways, one after another
// (docs/decisions/049-dependencies-of-their-time.md).

/** How an attempt differs from a build of the source's requirements with current versions. */
export type Changes = {
  /** The project's package is built and installed, instead of imported from the repository. */
  readonly isInstalled?: true;
  /** One more requirement, such as `mcp<2`. */
  readonly requirement?: string;
  /** Packages that the index received later don't count. */
  readonly asOf?: Date;
};

/** A build's result. `exact`: its versions as in a requirements file. `madeAt`: date of its source; null: unknown. */
export type Made = { readonly plan: Plan; readonly exact: string; readonly madeAt: Date | null };

export type FailedBuild = {
  readonly made: Made;
  /** Of the server with its own requirements. */
  readonly first: Failure;
  /** Of the latest attempt whose server was started; at first the same as `first`. */
  readonly last: Failure;
  /** The source is a published package, which the user can't change. */
  readonly isPackage: boolean;
  readonly now: Date;
  /** When the index received a version; rejects, or resolves to null, if it doesn't say. */
  readonly uploadedAt: (pin: Pin) => Promise<Date | null>;
};

export type Attempt = {
  readonly changes: Changes;
  /** Why it may help: the end of a sentence. */
  readonly why: string;
  /** The beginning of the log's line, before the failure's title, if installing or starting fails. */
  readonly failed: { readonly install: string; readonly start: string };
  /** For a server that starts this way; null if nothing differs for its author. */
  readonly warningFor: (made: Made) => BuildWarning | null;
  /** The diagnosis if its server fails, too; null: the earlier failure. */
  readonly reportFor: (again: Failure) => Failure | null;
};

/** A strategy for another attempt after a failure; null if it can't help. */
export type Strategy = (build: FailedBuild) => Promise<Attempt | null>;

/** Failures caused by a changed dependency, or by where the code is. */
const retryable: ReadonlySet<DiagnosisCode> = new Set([
  ...(["module_missing", "import_failed", "factory_failed", "lifespan_failed"] as const),
  ...(["mcp_version_mismatch", "keyword_removed", "dependency_mismatch", "exited_early", "protocol_error"] as const),
]);

/** Whether another attempt may succeed. If not, this failure is the more informative one: the server got further. */
export const isRetryable = ({ diagnosis }: Failure): boolean => retryable.has(diagnosis.code);
