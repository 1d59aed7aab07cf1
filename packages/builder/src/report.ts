import {
  type BuildPhase,
  type BuildWarning,
  type Diagnosis,
  signInWarning,
} from "@towpath/core/delivery/build/contract";
import { inSpan } from "@towpath/telemetry/trace";
import type { BuildRequest, BuildResult } from "./contract.ts";
import { located } from "./diagnose/diagnose.ts";
import { failureOfPackage, warningOfPackage } from "./diagnose/for-packages.ts";
import { withTerminal } from "./diagnose/in-terminal.ts";
import type { SourceTree } from "./fetch/source-tree.ts";
import type { Inspection } from "./inspect/inspect.ts";

type Success = Extract<BuildResult, { ok: true }>;

/** A build's report to its users: warnings, the duration of each phase, and its result. */
export class BuildReport {
  readonly #request: BuildRequest;
  readonly #signal: AbortSignal;
  readonly #warnings: BuildWarning[] = [];
  readonly #timings: Partial<Record<BuildPhase, number>> = {};
  /** The latest phase. */
  phase: BuildPhase = "fetch";
  /** The tree that is built, once known. */
  source: SourceTree | null = null;

  constructor(request: BuildRequest, signal: AbortSignal) {
    this.#request = request;
    this.#signal = signal;
  }

  /** Adds the duration of `run` to that of a phase, which may run several times. @throws the signal's reason */
  async timed<T>(phase: BuildPhase, run: () => Promise<T>): Promise<T> {
    this.#signal.throwIfAborted();
    this.phase = phase;
    const start = performance.now();
    try {
      return await inSpan(phase, run);
    } finally {
      this.#timings[phase] = (this.#timings[phase] ?? 0) + Math.round(performance.now() - start);
    }
  }

  /** Logs a warning and adds it to the result. */
  warn(phase: BuildPhase, warning: BuildWarning): void {
    this.#warnings.push(this.#log(phase, warning));
  }

  /** The same for warnings that each attempt of a build repeats. */
  warnOnce(phase: BuildPhase, warning: BuildWarning): void {
    if (!this.#warnings.some(({ code }) => code === warning.code)) this.warn(phase, warning);
  }

  /** Logs the warnings of an inspection. */
  warnOf({ warnings, ownSignIn }: Inspection): void {
    for (const warning of warnings) this.warn("inspect", warning);
    // Only logged: other places show it by the auth mode at that time.
    const signIn = signInWarning(ownSignIn, this.#request.authMode);
    if (signIn !== null) this.#log("inspect", signIn);
  }

  succeed(
    { layers, resolution, program }: Pick<Success, "layers" | "resolution" | "program">,
    { manifest, icons, recording, ownSignIn }: Inspection,
  ): BuildResult {
    const found = { manifest, icons, recording, warnings: this.#warnings, ownSignIn };
    return { ok: true, layers, resolution, program, ...found, timings: this.#timings };
  }

  /** Logs why the build failed, with a remedy for its user. */
  fail(found: Diagnosis): BuildResult {
    const diagnosis = withTerminal(this.#request.isPackage ? failureOfPackage(found) : located(found, this.source));
    const { phase, title, detail, remedy } = diagnosis;
    this.#request.log(phase, "error", [title, detail, remedy].join("\n"));
    return { ok: false, diagnosis, timings: this.#timings };
  }

  /** Returns the warning, with a remedy for its user. */
  #log(phase: BuildPhase, found: BuildWarning): BuildWarning {
    const warning = withTerminal(this.#request.isPackage ? warningOfPackage(found) : found);
    const { title, detail, remedy } = warning;
    this.#request.log(phase, "warning", [title, detail, remedy].join("\n"));
    return warning;
  }
}
